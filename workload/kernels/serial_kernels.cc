// A chunked scan carries a state from chunk to chunk: its blocks split the columns of the state, and each goes through
// all chunks of its sequence.
//
//     t = rounds * steps * max(work + latency, residents * work)
//     work = max(flops of a step / rate of one multiprocessor, bytes of a step / what one can draw)
//
// flash-linear-attention 0.5 (ops/common/chunk_delta_h.py): a block has 32 or 64 columns of the state, the faster of
// which is taken, as its autotuner does; tiles have 64 rows, those of a chunk or half of a head's keys. Operands of the
// GEMMs are loaded ahead of their use (num_stages), at the speed of the last-level cache, since all blocks of a head
// read its keys; what they subtract from and the decays are not: a step waits once for memory. Two blocks share a
// multiprocessor and hide each other's latency (228 KB of shared memory, two stages of 48 KB each and the state).
//
// The latency of memory is 478.8 cycles on an H100 at 1755 MHz (Luo et al., "Benchmarking and Dissecting the Nvidia
// Hopper GPU Architecture via Microbenchmarking", arXiv 2402.13499, table 4), 466.3 at 1410 MHz on an A100. No time of
// a scan was used. Passing operands through shared memory and barriers within a step are not in it.
#include "workload/kernels/serial_kernels.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "workload/kernels/kernel_rules.h"

namespace ringwright::workload {
namespace {

constexpr double kMemoryLatency = 478.8 / 1755e6;
constexpr double kResidentBlocks = 2.0;
constexpr double kBlockRows = 64.0;
constexpr std::array<double, 2> kBlockColumns{32.0, 64.0};

}  // namespace

double serial_load_seconds(const Kernel& kernel) {
  return static_cast<double>(kernel.serial_steps) * kMemoryLatency;
}

double serial_seconds(const Kernel& kernel, std::int64_t sms, const BlockRates& rates) {
  const auto steps = static_cast<double>(kernel.serial_steps);
  const auto batch = static_cast<double>(kernel.batch);
  // Read by all blocks of a batch element, and the rest, of which each has its columns.
  const double shared = static_cast<double>(kernel.m * kernel.k) * bytes_per_element(kernel.type);
  const double own = std::max(static_cast<double>(kernel.bytes.count()) / batch - shared, 0.0);
  double best = std::numeric_limits<double>::infinity();
  for (const double columns : kBlockColumns) {
    const double of_element = std::ceil(static_cast<double>(kernel.n) / columns);
    const double blocks = batch * of_element;
    const double slowed = 1.0 + rates.tile_load * (1.0 / kBlockRows + 1.0 / columns);
    const double arithmetic = kernel.flops.count() / blocks / steps * slowed / rates.flops;
    const double work = std::max(arithmetic, (shared + own / of_element) / steps / rates.bytes);
    const double each = std::ceil(blocks / static_cast<double>(sms));  // of a multiprocessor
    const double rounds = std::ceil(each / kResidentBlocks);
    const double together = std::min(each, kResidentBlocks);
    best = std::min(best, rounds * steps * std::max(work + kMemoryLatency, together * work));
  }
  return best;
}

double serial_gemm_seconds(const Kernel& kernel, const GpuSpec& gpu) {
  using enum KernelConstant;
  const KernelProfile& profile = gpu.kernels;
  const auto sms = static_cast<double>(gpu.sms);
  const double reference = 1.0 + profile[kGemmTileLoad] * 2.0 / profile[kGemmWidestTile];
  const double rate = gpu.peak_of(kernel.type).count() * profile[gemm_share(kernel.type)] * reference;
  const double cache = gpu.memory_bandwidth.count() * profile[kStreamShare] * profile[kStreamCacheSpeed];
  return serial_seconds(
      kernel, gpu.sms,
      {.flops = rate / sms, .bytes = cache / (sms * gpu.streaming_share), .tile_load = profile[kGemmTileLoad]});
}

}  // namespace ringwright::workload
