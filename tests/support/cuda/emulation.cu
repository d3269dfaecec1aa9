// Fibres, their turns, and memory whose stores become visible late.
#include "emulation.cuh"

#include <setjmp.h>
#include <ucontext.h>

#include <algorithm>
#include <memory>
#include <random>
#include <utility>

#include "validation/gpu/memory_access.cuh"

namespace emulation {
namespace {

constexpr std::size_t kStackBytes = 32 << 10;

struct Warp {
  unsigned lanes = 0;
  unsigned arrived = 0;
  std::uint64_t generation = 0;
  std::uint32_t values[2][32] = {};
};

// 8 bytes in flight to memory.
struct Store {
  std::uint64_t* to;
  std::uint64_t value;
  unsigned thread;
  std::uint64_t barriers;  // that the block had passed
  bool released;           // may become visible at any time; others wait for a release, or chance
};

struct Block {
  unsigned index = 0;
  unsigned live = 0;
  unsigned arrived = 0;
  std::uint64_t generation = 0;
  std::vector<Warp> warps;
  std::vector<Store> pending;
};

enum class Wait { kNothing, kWarp, kBlock, kEnded };

// Entered by its context once, and by jumps afterwards, which need no call of the system.
struct Fibre {
  ucontext_t context{};
  jmp_buf place;
  bool has_begun = false;
  std::unique_ptr<char[]> stack;
  Block* block = nullptr;
  Warp* warp = nullptr;
  unsigned thread = 0;
  Wait wait = Wait::kNothing;
  std::uint64_t generation = 0;
};

}  // namespace

class Background {
 public:
  Background(const Play& play, std::function<void()> kernel)
      : play_(play), kernel_(std::move(kernel)), random_(play.seed) {
    std::vector<unsigned> indices = play.only;
    for (unsigned i = 0; play.only.empty() && i < play.blocks; ++i) indices.push_back(i);
    blocks_.resize(indices.size());
    fibres_.resize(indices.size() * play.threads);
    for (std::size_t b = 0; b < indices.size(); ++b) add_block(blocks_[b], indices[b], b * play.threads);
    for (unsigned i = 0; i < fibres_.size(); i += 32) order_.push_back(i);
  }

  // One turn for every warp. False when there is nothing left to run.
  bool round() {
    ++outcome_.rounds;
    std::shuffle(order_.begin(), order_.end(), random_);
    bool ran = false;
    for (const unsigned first : order_) {
      drain_some(*fibres_[first].block);
      const unsigned last = std::min<unsigned>(first + 32, first - first % play_.threads + play_.threads);
      for (unsigned i = first; i < last; ++i) ran = resume(fibres_[i]) || ran;
      if (outcome_.trapped) return false;
    }
    if (!ran) outcome_.deadlocked = live_ > 0;
    if (ran && live_ > 0) return true;
    for (Block& block : blocks_) drain(block, [](const Store&) { return true; });  // the kernel's end shows everything
    return false;
  }
  [[nodiscard]] const Outcome& outcome() const { return outcome_; }
  [[nodiscard]] bool chance(unsigned one_in) { return random_() % one_in == 0; }
  [[nodiscard]] Fibre& running() { return *running_; }
  [[nodiscard]] const Play& what() const { return play_; }
  [[nodiscard]] std::uint64_t rounds() const { return outcome_.rounds; }

  void give_up() { outcome_.trapped = true; }
  void swap_out() {
    if (_setjmp(running_->place) == 0) _longjmp(scheduler_, 1);
  }

  void write_late(void* to, const void* from, bool released) {
    Fibre& fibre = running();
    std::uint64_t value;
    std::memcpy(&value, from, sizeof value);
    fibre.block->pending.push_back(
        {static_cast<std::uint64_t*>(to), value, fibre.thread, fibre.block->generation, released});
  }
  // Before a release by this thread: everything visible to it, that is its own stores and all before the last barrier.
  void drain_seen() {
    const Fibre& fibre = running();
    drain(*fibre.block,
          [&](const Store& s) { return s.thread == fibre.thread || s.barriers < fibre.block->generation; });
  }

  void finish_fibre() {
    Fibre& fibre = running();
    fibre.wait = Wait::kEnded;
    --live_;
    --fibre.warp->lanes;
    --fibre.block->live;
    release_block(*fibre.block);
  }
  void release_block(Block& block) {
    if (block.live == 0 || block.arrived < block.live) return;
    block.arrived = 0;
    ++block.generation;
  }

 private:
  void add_block(Block& block, unsigned index, std::size_t first);
  bool resume(Fibre& fibre);

  template <class Predicate>
  void drain(Block& block, Predicate&& is_due) {
    const auto keep = std::stable_partition(block.pending.begin(), block.pending.end(), is_due);
    std::for_each(block.pending.begin(), keep, [](const Store& s) { *s.to = s.value; });
    block.pending.erase(block.pending.begin(), keep);
  }
  void drain_some(Block& block) {
    if (!block.pending.empty()) drain(block, [&](const Store& s) { return chance(s.released ? 2 : 16); });
  }

  Play play_;
  std::function<void()> kernel_;
  std::minstd_rand random_;
  std::vector<Block> blocks_;
  std::vector<Fibre> fibres_;
  std::vector<unsigned> order_;  // warps, by their first fibre
  std::size_t live_ = 0;
  Fibre* running_ = nullptr;
  jmp_buf scheduler_;
  Outcome outcome_;

  friend void run_fibre();
};

namespace {

// The kernel that runs now: one at a time, on one host thread.
Background*& current() {
  static Background* background = nullptr;
  return background;
}

}  // namespace

void run_fibre() {
  current()->kernel_();
  current()->finish_fibre();
  current()->swap_out();
}

void Background::add_block(Block& block, unsigned index, std::size_t first) {
  block.index = index;
  block.live = play_.threads;
  block.warps.resize((play_.threads + 31) / 32);
  for (unsigned thread = 0; thread < play_.threads; ++thread) {
    Fibre& fibre = fibres_[first + thread];
    fibre.stack = std::make_unique_for_overwrite<char[]>(kStackBytes);
    fibre.block = &block;
    fibre.warp = &block.warps[thread / 32];
    fibre.thread = thread;
    ++fibre.warp->lanes;
    getcontext(&fibre.context);
    fibre.context.uc_stack.ss_sp = fibre.stack.get();
    fibre.context.uc_stack.ss_size = kStackBytes;
    fibre.context.uc_link = nullptr;
    makecontext(&fibre.context, run_fibre, 0);
    ++live_;
  }
}

bool Background::resume(Fibre& fibre) {
  if (fibre.wait == Wait::kEnded || outcome_.trapped) return false;
  if (fibre.wait == Wait::kWarp && fibre.warp->generation == fibre.generation) return false;
  if (fibre.wait == Wait::kBlock && fibre.block->generation == fibre.generation) return false;
  fibre.wait = Wait::kNothing;
  running_ = &fibre;
  if (_setjmp(scheduler_) != 0) return true;
  if (fibre.has_begun) _longjmp(fibre.place, 1);
  fibre.has_begun = true;
  setcontext(&fibre.context);
  return true;
}

Index thread_index() {
  return {current()->running().thread};
}
Index block_index() {
  return {current()->running().block->index};
}
Index block_size() {
  return {current()->what().threads};
}
Index grid_size() {
  return {current()->what().blocks};
}

Background* begin(const Play& play, const std::function<void()>& kernel) {
  return new Background(play, kernel);
}

bool go_on(Background& background, int rounds) {
  Background* const before = std::exchange(current(), &background);
  bool more = true;
  for (int i = 0; i < rounds && more; ++i) more = background.round();
  current() = before;
  return more;
}

void end(Background* background) {
  delete background;
}

Outcome play(const Play& play, const std::function<void()>& kernel) {
  Background background(play, kernel);
  while (go_on(background, 1000)) {
  }
  return background.outcome();
}

void yield() {
  current()->swap_out();
}

void trap() {
  current()->give_up();
  for (;;) yield();
}

void barrier() {
  Fibre& fibre = current()->running();
  fibre.generation = fibre.block->generation;
  ++fibre.block->arrived;
  current()->release_block(*fibre.block);
  if (fibre.block->generation != fibre.generation) return;
  fibre.wait = Wait::kBlock;
  yield();
}

std::uint32_t exchange(std::uint32_t value, unsigned from_lane) {
  Fibre& fibre = current()->running();
  Warp& warp = *fibre.warp;
  fibre.generation = warp.generation;
  warp.values[fibre.generation % 2][fibre.thread % 32] = value;
  if (++warp.arrived == warp.lanes) {
    warp.arrived = 0;
    ++warp.generation;
  }
  fibre.wait = Wait::kWarp;  // the last one, too: all go on together in the warp's next turn
  yield();
  return warp.values[fibre.generation % 2][from_lane];
}

bool any(bool value) {
  Fibre& fibre = current()->running();
  const std::uint64_t generation = fibre.warp->generation;
  exchange(value ? 1 : 0, 0);
  const std::uint32_t* const values = fibre.warp->values[generation % 2];
  return std::any_of(values, values + fibre.warp->lanes, [](std::uint32_t v) { return v != 0; });
}

}  // namespace emulation

namespace ringwright::gpu {

using emulation::current;

std::uint64_t load_relaxed(const std::uint64_t* from) {
  emulation::yield();
  return *from;
}
std::uint64_t load_acquire(const std::uint64_t* from) {
  return load_relaxed(from);
}
void store_relaxed(std::uint64_t* to, std::uint64_t value) {
  *to = value;
}
void store_release(std::uint64_t* to, std::uint64_t value) {
  current()->drain_seen();
  *to = value;
}
uint4 load_volatile(const uint4* from) {
  if (current()->chance(4)) emulation::yield();
  return *from;
}
void store_volatile(uint4* to, uint4 v) {
  const int late = current()->chance(2) ? 1 : 0;
  const auto half = [&](int i) { return reinterpret_cast<const char*>(&v) + 8 * i; };
  std::memcpy(reinterpret_cast<char*>(to) + 8 * (1 - late), half(1 - late), 8);
  current()->write_late(reinterpret_cast<char*>(to) + 8 * late, half(late), true);
}
void store_part_of_line(uint4* to, uint4 v) {
  *to = v;
}
float4 load_others(const float4* from) {
  if (current()->chance(16)) emulation::yield();
  return *from;
}
void store_for_others(float4* to, float4 v) {
  current()->write_late(to, &v, false);
  current()->write_late(reinterpret_cast<char*>(to) + 8, reinterpret_cast<const char*>(&v) + 8, false);
}
std::uint64_t nanoseconds() {
  emulation::yield();
  return emulation::kNanosecondsARound * current()->rounds();
}

}  // namespace ringwright::gpu

long long clock64() {
  return static_cast<long long>(ringwright::gpu::nanoseconds());
}
