// Calibrated: each kernel by the rule of its family, with a few constants fitted to measurements of this GPU; and the
// host, whose framework bounds the rate at which kernels are issued.
//
// The host's time counts where the host falls behind (core/run/job/host_clock.h). CUDA graphs replay kernels without
// it.
#include <algorithm>
#include <array>
#include <string>

#include <fmt/format.h>

#include "core/base/check.h"
#include "workload/builtin.h"
#include "workload/gpu/gpu_share.h"
#include "workload/kernels/kernel_rules.h"

namespace ringwright::workload {
namespace {

using namespace ringwright::literals;

// Ahead of the device, at most one kernel ahead, waiting for each kernel before the next issue (CUDA_LAUNCH_BLOCKING),
// or replaying graphs.
enum class HostPace { kIssues, kFollows, kBlocks, kReplays };

struct PaceSwitches {
  bool graphs = false;
  bool blocking = false;
  bool serial = false;

  [[nodiscard]] HostPace pace() const {
    if (graphs) return HostPace::kReplays;
    if (blocking) return HostPace::kBlocks;
    return serial ? HostPace::kFollows : HostPace::kIssues;
  }
};

void warn_of_no_effect(ConfigMap& compute, std::string_view key, std::string_view why) {
  compute.warn(key, "W131", compute.path_of(key) + " has no effect: " + std::string(why));
}

PaceSwitches read_pace(ConfigMap& compute) {
  PaceSwitches read;
  read.graphs = compute.boolean(
      {.name = "cuda_graphs", .doc = "kernels are replayed from CUDA graphs, without the host", .fallback = false});
  read.blocking = compute.boolean({.name = "launch_blocking",
                                   .doc = "the host waits for each kernel before it issues the next one, as with "
                                          "CUDA_LAUNCH_BLOCKING=1",
                                   .fallback = false});
  read.serial = compute.boolean({.name = "serial_launches",
                                 .doc = "the host is at most one kernel ahead of the device, as under profilers that "
                                        "trace kernels one by one: each takes at least host_issue",
                                 .fallback = false});
  if (read.graphs && read.blocking) {
    warn_of_no_effect(compute, "launch_blocking", "kernels of graphs are replayed without the host");
  }
  if (read.graphs && read.serial) {
    warn_of_no_effect(compute, "serial_launches", "kernels of graphs are replayed without the host");
  }
  if (!read.graphs && read.blocking && read.serial) {
    warn_of_no_effect(compute, "serial_launches", "with launch_blocking the host is never ahead");
  }
  return read;
}

class Calibrated final : public ComputeModel {
 public:
  struct Pace {
    HostPace host = HostPace::kIssues;
    Duration issue;           // of one kernel
    Duration resume;          // after a message that the host has waited for
    Duration read;            // after a kernel whose result the host reads
    double step_speed = 1.0;  // of kernels in a training step, relative to the same kernels alone
  };
  Calibrated(const GpuSpec& gpu, const Pace& pace) : gpu_(gpu), pace_(pace) {}

  [[nodiscard]] Duration duration(const Kernel& kernel) const override {
    if (kernel.share_of > 1) return duration(whole_kernel(kernel)) / kernel.share_of;
    CHECK(kernel.flops <= Flops(0.0) || gpu_.peak_of(kernel.type) > FlopRate(0.0), "check_precision was called");
    if (kernel.concurrent) return from_seconds(stream_seconds(kernel, gpu_) * gpu_.streaming_share / speed_of(kernel));
    const bool read = kernel.host_reads && pace_.host != HostPace::kReplays;
    const Duration busy =
        from_seconds(kernel_seconds(kernel, gpu_) / speed_of(kernel)) + (read ? pace_.read : Duration(0));
    switch (pace_.host) {
      case HostPace::kIssues: return kernel.host_paced ? std::max(busy, issue_time(kernel)) : busy;
      case HostPace::kReplays: return busy;
      case HostPace::kFollows: return std::max(busy, pace_.issue);
      case HostPace::kBlocks: return busy + pace_.issue;
    }
    return busy;
  }
  [[nodiscard]] Duration launch_overhead(const Kernel& kernel) const override {
    return from_seconds(start_seconds(kernel, gpu_)) / kernel.share_of;
  }
  [[nodiscard]] std::int64_t sms() const override { return gpu_.sms; }
  [[nodiscard]] Duration duration_under(const Kernel& kernel, const Contention& contention) const override {
    return Calibrated(share(contention).of_kernel(), pace_).duration(kernel);
  }
  [[nodiscard]] Bandwidth memory_under(const Kernel& kernel, const Contention& contention) const override {
    return share(contention).of_blocks(kernel, duration_under(kernel, contention));
  }
  [[nodiscard]] Duration issue_time(const Kernel& kernel) const override {
    if (pace_.host != HostPace::kIssues || kernel.issue == KernelIssue::kTogether) return Duration(0);
    if (kernel.issue == KernelIssue::kLoop) return from_seconds(gpu_.kernels[KernelConstant::kGroupedIssue]);
    return (pace_.issue + from_seconds(library_issue_seconds(kernel, gpu_))) / kernel.share_of;
  }
  // A collective's kernel is issued like any other.
  [[nodiscard]] Duration call_issue_time() const override {
    return pace_.host == HostPace::kIssues ? pace_.issue : Duration(0);
  }
  [[nodiscard]] Duration resume_time() const override { return pace_.resume; }
  [[nodiscard]] bool extrapolates(const Kernel& kernel) const override {
    return !within_fit(whole_kernel(kernel), gpu_.kernels);
  }

 private:
  // GPUs of one model differ where they are power-bound. Fused attention is bound by exponentials: sequences of 64
  // thousand tokens on H100 and H200 match the speed of its kernels alone, but GEMMs and copies do not.
  [[nodiscard]] double speed_of(const Kernel& kernel) const {
    const bool attention =
        kernel.family == KernelFamily::kAttentionForward || kernel.family == KernelFamily::kAttentionBackward;
    return attention ? gpu_.kernels[KernelConstant::kStepAttentionSpeed] : pace_.step_speed;
  }

  [[nodiscard]] GpuShare share(const Contention& contention) const {
    return {gpu_, contention, gpu_.kernels[KernelConstant::kStreamShare]};
  }

  GpuSpec gpu_;
  Pace pace_;
};

// The GPU with the kernels of `compute.flash_attention`.
GpuSpec with_chosen_attention(ConfigMap& compute, const GpuSpec& gpu) {
  constexpr std::string_view kKey = "flash_attention";
  const auto release = compute.integer_or(
      {.name = kKey,
       .doc = "release of FlashAttention whose kernels run fused attention; auto: the fastest measured on the GPU, "
              "cuDNN's or the newest release. PyTorch's scaled_dot_product_attention (torchtitan, FSDP) and Hugging "
              "Face's flash_attention_2 are release 2 on every GPU",
       .min = 1,
       .max = kNewestFlashAttention},
      "auto");
  GpuSpec chosen = gpu;
  if (!release) return chosen;
  // Before Blackwell the newest release is the fastest; there, cuDNN's kernels are the fastest that were measured.
  const bool is_fastest = *release == newest_flash_attention(gpu) && *release < kNewestFlashAttention;
  if (auto profile = with_flash_attention(gpu.kernels, static_cast<int>(*release))) {
    chosen.kernels = std::move(*profile);
  } else if (!is_fastest) {
    warn_of_no_effect(
        compute, kKey,
        fmt::format("no constants of FlashAttention-{} are known for {}, and its fastest kernels are used; "
                    "cluster.node.gpu.kernels.flash_attention may give them",
                    *release, gpu.name));
  }
  return chosen;
}

}  // namespace

std::unique_ptr<ComputeModel> make_calibrated(ConfigMap& compute, const GpuSpec& gpu) {
  const HostPace pace = read_pace(compute).pace();
  const Duration issue = compute.duration({.name = "host_issue",
                                           .doc = "host time of the framework to issue one kernel",
                                           .fallback = gpu.host_issue,
                                           .min = 0_us,
                                           .max = 1_ms});
  if (pace != HostPace::kReplays && !compute.has("host_issue") && gpu.host_issue == kHostIssue) {
    compute.assume("host_issue", "13.5us", "PyTorch's linear layer on a Xeon 8480C");
  }
  const Duration resume = compute.duration({.name = "host_resume",
                                            .doc = "time from a pipeline message that the host waits for "
                                                   "(overlap_p2p_comm: false) to the first kernel after it",
                                            .fallback = 0_us,
                                            .min = 0_us,
                                            .max = 100_ms});
  // Megatron-Bridge's profile of Qwen3-30B-A3B on 16 H100: of 24.71 s the GPU is idle for 1.89 s, and exchanges the
  // number of the experts' tokens for 3.11 s, waiting for other ranks, in 64 microbatches of 48 layers.
  const Duration read = compute.duration({.name = "host_read",
                                          .doc = "time from the end of a kernel whose result the host waits for, as "
                                                 "the number of each expert's tokens, to the next kernel; waiting "
                                                 "for other ranks included",
                                          .fallback = 1600_us,
                                          .min = 0_us,
                                          .max = 100_ms});
  if (gpu.kernels.name.empty()) {
    compute.assume("model", "class values",
                   "no kernels of this GPU were measured: cluster.node.gpu.kernels is not set");
  }
  const double step_speed = compute.percent(
      {.name = "step_speed",
       .doc = "speed of kernels in a training step, except fused attention, relative to the same kernels measured "
              "alone: the effect of power limit, cold caches and gaps under sustained load",
       .fallback = gpu.kernels[KernelConstant::kStepSpeed],
       .min = 0.1,
       .max = 1.0});
  return std::make_unique<Calibrated>(
      with_chosen_attention(compute, gpu),
      Calibrated::Pace{.host = pace, .issue = issue, .resume = resume, .read = read, .step_speed = step_speed});
}

}  // namespace ringwright::workload
