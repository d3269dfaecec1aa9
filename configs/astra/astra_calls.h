// The collectives of an ASTRA-sim job: which chunks and phases each call has, and on which group.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "configs/astra/astra_settings.h"
#include "core/plan/node_job.h"
#include "traces/chakra/groups.h"

namespace ringwright::configs {

struct AstraCallSpec {
  traces::AstraCollective kind = traces::AstraCollective::kAllReduce;
  std::int64_t bytes = 0;
  std::uint32_t group = 0;          // in NodeJob::groups
  std::vector<bool> involved = {};  // by dimension; missing ones are involved
  friend auto operator<=>(const AstraCallSpec&, const AstraCallSpec&) = default;
};

class AstraCalls {
 public:
  AstraCalls(const AstraSettings& settings, NodeJob& job, AstraProblems& problems);

  void add_groups(const traces::ChakraGroups& groups, const std::string& file);
  // The group of a name; empty when there is none.
  [[nodiscard]] std::optional<std::uint32_t> group(const std::string& name) const;
  // Index in NodeJob::calls; empty after an error, which is reported once per call.
  [[nodiscard]] std::optional<std::uint32_t> call(const AstraCallSpec& spec);

 private:
  [[nodiscard]] std::optional<std::uint32_t> make(const AstraCallSpec& spec);
  [[nodiscard]] std::optional<ChunkedCollective> plan(const AstraCallSpec& spec);
  [[nodiscard]] std::optional<ChunkedCollective> custom_plan(const AstraCallSpec& spec, ChunkedCollective cut);
  [[nodiscard]] std::optional<std::uint32_t> graph_set(const std::string& prefix, std::uint32_t group);

  const AstraSettings& settings_;
  NodeJob& job_;
  AstraProblems& problems_;
  std::map<std::string, std::uint32_t, std::less<>> groups_;
  std::map<AstraCallSpec, std::optional<std::uint32_t>> calls_;
  std::map<std::pair<std::string, std::uint32_t>, std::optional<std::uint32_t>> graph_sets_;
};

}  // namespace ringwright::configs
