// The table of families.
#include "suite.cuh"

namespace ringwright::gpu {

void measure_gemm(const Suite& suite);
void measure_grouped_gemm(const Suite& suite);
void measure_elementwise(const Suite& suite);
void measure_training_kernels(const Suite& suite);
void measure_memory(const Suite& suite);
void measure_host_copies(const Suite& suite);
void measure_launches(const Suite& suite);
void measure_primitives(const Suite& suite);
void measure_interference(const Suite& suite);
void measure_offload(const Suite& suite);

namespace {

Row row_of(const KernelRow& kernel, const TimingRules& rules) {
  Row row = {
      {"family", kernel.family},      {"op", kernel.op}, {"dtype", kernel.dtype},       {"layout", kernel.layout},
      {"batch", text(kernel.batch)},  {"mask", ""},      {"flops", text(kernel.flops)}, {"bytes", text(kernel.bytes)},
      {"mode", to_string(rules.mode)}, {"cache", "cold"}};
  if (kernel.m > 0) row["m"] = text(kernel.m);
  if (kernel.n > 0) row["n"] = text(kernel.n);
  if (kernel.k > 0) row["k"] = text(kernel.k);
  return row;
}

}  // namespace

const std::vector<Family>& families() {
  static const std::vector<Family> rows = {
      {"gemm", "matrix products of model layers: bf16, fp16, tf32, fp8; forward, dgrad, wgrad; batched", measure_gemm},
      {"grouped_gemm", "GEMMs of experts: as many as there are experts on a GPU, in one launch",
       measure_grouped_gemm},
      {"elementwise", "norms, activations, residual, dropout, cast and quantise", measure_elementwise},
      {"training", "cross-entropy, embedding gather and scatter, Adam", measure_training_kernels},
      {"memory", "device memory: read, write, copy, reduce, by size and by SMs; L2 hits", measure_memory},
      {"host_copies", "host-device copies: pinned and pageable, each direction and both", measure_host_copies},
      {"launches", "kernel launches, graphs, events, stream waits", measure_launches},
      {"primitives", "inner steps of collectives: LL, LL128, Simple between thread blocks, ring and tree",
       measure_primitives},
      {"interference", "GEMMs and memory-bound kernels concurrent with copy and reduce kernels on a few SMs",
       measure_interference},
      {"offload", "optimizer offload: gradients down, parameters up, during compute", measure_offload},
  };
  return rows;
}

Table Suite::table(const std::string& name, const std::vector<std::string>& keys,
                   const std::vector<std::string>& values) const {
  return {folder + "/" + name + ".csv", header_lines, keys, values};
}

Table Suite::kernel_table(const std::string& name) const {
  return table(name,
               {"family", "op", "dtype", "layout", "m", "n", "k", "batch", "mask", "flops", "bytes", "mode", "cache"},
               {"time_us", "ci_low_us", "ci_high_us"});
}

bool is_missing(const Table& table, const KernelRow& kernel, const TimingRules& rules) {
  return !table.has(row_of(kernel, rules));
}

bool measure_kernel(const Suite& suite, Table& table, const KernelRow& kernel, const Launch& launch,
                    const TimingRules& rules) {
  if (suite.time_is_up()) return false;
  Row row = row_of(kernel, rules);
  if (table.has(row)) return true;
  const Timing timing = time_launches(launch, rules);
  add_timing(row, timing);
  table.add(row);
  suite.progress(std::string(kernel.family) + " " + kernel.op + " " + kernel.dtype + " " + text(kernel.m) + "x" +
                 text(kernel.n) + "x" + text(kernel.k) + ": " + text(timing.median_us) + " us");
  return true;
}

}  // namespace ringwright::gpu
