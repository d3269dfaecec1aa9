// The emulation is as strict as documented: kernels that rely on luck fail, correct ones do not.
#include <gtest/gtest.h>
#include <all_reduce.cuh>
#include <vector>

#include "vector_types.cuh"

namespace ringwright::gpu::emulation_test {
namespace {

constexpr unsigned kSeeds = 200;

// A line of 128 bytes that block 0 stores and block 1 reads; in how many of 200 orders it reads something old.
int old_lines(const std::function<uint4(const Slot&, unsigned part)>& receive) {
  int old = 0;
  for (unsigned seed = 1; seed <= kSeeds; ++seed) {
    alignas(128) uint4 line[8] = {};
    const Slot slot{reinterpret_cast<char*>(line), 1};
    bool is_old = false;
    const auto outcome = emulation::play({.blocks = 2, .threads = 32, .only = {}, .seed = seed}, [&] {
      const unsigned part = threadIdx.x;
      if (blockIdx.x == 0) {
        for (int i = 0; i < 6; ++i) load_relaxed(reinterpret_cast<const std::uint64_t*>(line));  // later, sometimes
        __syncwarp();
        if (part < 8) store_part_of_line(&line[part], {5, 5, part == 7 ? 1U : 5U, 5});
        return;
      }
      const uint4 v = receive(slot, part);
      if (part < 8 && v.x != 5) is_old = true;
    });
    EXPECT_TRUE(outcome.ended());
    old += is_old ? 1 : 0;
  }
  return old;
}

TEST(Emulation, DataReadWithTheFirstObservationOfTheFlagMayBeOld) {
  EXPECT_GT(old_lines([](const Slot& slot, unsigned part) {
              const uint4* const line = reinterpret_cast<const uint4*>(slot.at);
              uint4 v{};
              bool missing = true;
              while (__any_sync(~0U, missing)) {
                if (part < 8) v = load_volatile(line + part);
                missing = __shfl_sync(~0U, v.z, 7) != slot.flag;
              }
              return v;
            }),
            0);
}

TEST(Emulation, DataThatAreReadAgainAreNew) {
  EXPECT_EQ(old_lines([](const Slot& slot, unsigned part) { return receive_ll128(slot, 0, part, part < 8); }), 0);
}

// Both threads of block 0 store a value; then its thread 0 signals it. The number of orders in which block 1 misses
// one.
int missed_stores(bool with_barrier, bool with_release) {
  int missed = 0;
  for (unsigned seed = 1; seed <= kSeeds; ++seed) {
    std::vector<float4> data(64);
    std::uint64_t flag = 0;
    bool is_missed = false;
    const auto outcome = emulation::play({.blocks = 2, .threads = 64, .only = {}, .seed = seed}, [&] {
      if (blockIdx.x == 0) {
        store_for_others(&data[threadIdx.x], {1, 2, 3, 4});
        if (with_barrier) __syncthreads();
        if (threadIdx.x == 0 && with_release) store_release(&flag, 1);
        if (threadIdx.x == 0 && !with_release) store_relaxed(&flag, 1);
        return;
      }
      while (load_acquire(&flag) == 0) {
      }
      if (load_others(&data[threadIdx.x]).w < 3) is_missed = true;
    });
    EXPECT_TRUE(outcome.ended());
    missed += is_missed ? 1 : 0;
  }
  return missed;
}

TEST(Emulation, StoresAreVisibleAfterABarrierAndARelease) {
  EXPECT_EQ(missed_stores(true, true), 0);
}
TEST(Emulation, WithoutTheBarrierOthersStoresAreMissed) {
  EXPECT_GT(missed_stores(false, true), 0);
}
TEST(Emulation, WithoutTheReleaseStoresAreMissed) {
  EXPECT_GT(missed_stores(true, false), 0);
}

// A reader that checks only one of the two flags of 16 bytes is wrong sooner or later.
TEST(Emulation, HalvesOfAStoreBecomeVisibleSeparately) {
  int apart = 0;
  for (unsigned seed = 1; seed <= kSeeds; ++seed) {
    uint4 line{};
    emulation::play({.blocks = 2, .threads = 32, .only = {}, .seed = seed}, [&] {
      if (threadIdx.x != 0) return;
      if (blockIdx.x == 0) return store_volatile(&line, {7, 1, 7, 1});
      for (int i = 0; i < 20; ++i) {
        emulation::yield();
        const uint4 v = load_volatile(&line);
        if (v.y != v.w) ++apart;
      }
    });
  }
  EXPECT_GT(apart, 0);
}

TEST(Emulation, ABarrierThatSomeNeverReachIsADeadlock) {
  const auto outcome = emulation::play({.blocks = 1, .threads = 64}, [] {
    if (threadIdx.x < 32) __syncthreads();
    if (threadIdx.x >= 32) __shfl_sync(~0U, 1, 0);
    if (threadIdx.x == 40) emulation::trap();
    while (threadIdx.x >= 32) emulation::yield();
  });
  EXPECT_TRUE(outcome.trapped);
  const auto stuck = emulation::play({.blocks = 1, .threads = 64}, [] {
    if (threadIdx.x == 0) __syncthreads();
    if (threadIdx.x > 0) __any_sync(~0U, true);
    __syncthreads();
  });
  EXPECT_TRUE(stuck.deadlocked);
  EXPECT_FALSE(stuck.ended());
}

TEST(Emulation, ABlockSumsAndFindsTheLargest) {
  std::vector<double> sums(96), largest(96);
  const auto outcome = emulation::play({.blocks = 1, .threads = 96}, [&] {
    decltype(float2::x) scratch_of_all = 0;
    static decltype(scratch_of_all) scratch[32];
    const auto value = static_cast<decltype(scratch_of_all)>(threadIdx.x);
    sums[threadIdx.x] = block_sum(value, scratch);
    largest[threadIdx.x] = block_max(value, scratch);
  });
  EXPECT_TRUE(outcome.ended());
  EXPECT_EQ(sums, std::vector<double>(96, 96 * 95 / 2));
  EXPECT_EQ(largest, std::vector<double>(96, 95));
}

}  // namespace
}  // namespace ringwright::gpu::emulation_test
