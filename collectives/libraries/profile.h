// A library of collectives as its users name it: which algorithm it selects for a call, and what its software costs.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/units.h"
#include "core/plan/collective_call.h"
#include "core/plan/step_costs.h"

namespace ringwright::collectives {

enum class RuleHosts : std::uint8_t { kAny, kOne };  // of the group

// The first rule that matches a call, and whose algorithm supports it, applies.
struct AlgorithmRule {
  CollectiveKind kind = CollectiveKind::kAllReduce;
  Bytes from;
  Bytes up_to;                 // of library_size(); 0: any
  std::string_view algorithm;  // of steps, "ring"
  RuleHosts hosts = RuleHosts::kAny;
  bool staged = false;  // in host memory: GPUs copy their buffers there, and the results back
};

struct LibraryProfile {
  std::string_view name;  // in comm.library
  std::string_view doc;
  bool nccl_kernels = false;  // NCCL's or RCCL's kernels carry out its calls, but those with a rule
  StepCosts costs = {};       // defaults of collectives.step_costs; assumed
  Duration call = {};         // of every call before its first step; assumed
  std::span<const AlgorithmRule> rules = {};
};

[[nodiscard]] std::span<const LibraryProfile> library_profiles();
[[nodiscard]] const LibraryProfile& library_profile(std::string_view name);  // of a name that is in the table

// The size that thresholds of libraries are compared with: of all-gathers and reduce-scatters a member's share.
[[nodiscard]] Bytes library_size(const CollectiveCall& call);
[[nodiscard]] bool matches(const AlgorithmRule& rule, const CollectiveCall& call);

// Of Horovod, between processors that agree on what is ready, over TCP: assumed.
inline constexpr Duration kControlMessage = Duration(std::int64_t{20'000'000});  // 20 us

// Horovod's background thread collects gradients into a buffer (tensor fusion) and agrees with all ranks on what is
// ready once a cycle (Sergeev and Del Balso, arXiv 1802.05799; docs/tensor-fusion.rst).
struct HorovodSettings {
  Bytes fusion_threshold = Bytes(std::int64_t{128} << 20);
  Duration cycle = Duration(std::int64_t{1'000'000'000});  // 1 ms
  bool hierarchical = false;
  bool cached = true;  // ranks agree by bits of the response cache, not by lists that rank 0 gathers
};

// The library of a scenario, with what the job's environment sets.
struct LibrarySettings {
  const LibraryProfile* profile = &library_profile("nccl");
  std::vector<AlgorithmRule> chosen = {};  // by environment variables; before the profile's
  HorovodSettings horovod = {};
  bool runs_files = false;  // comm.algorithms names files, which need kernels
  bool nvidia = true;       // the GPUs are NVIDIA's: their library's tables apply

  [[nodiscard]] bool is(std::string_view name) const { return profile->name == name; }
};

}  // namespace ringwright::collectives
