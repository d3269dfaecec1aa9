// How long calls take, in steps or as kernels run them, while nobody else uses their links: each is simulated once
// alone, from the moments at which its members start.
//
// Times of a run depend on differences alone, and calls meet each other on links only, so that a call whose links are
// its own takes the same time whenever its members start at the same distances, to the picosecond. Groups whose
// transfers take equal paths (latencies, capacities, which links they have in common) differ by names only, and one of
// them stands for all.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <span>
#include <tuple>
#include <vector>

#include "core/run/job/group_roster.h"
#include "core/run/alone/lone_player.h"

namespace ringwright {

struct LoneCall {
  LoneOrder order;
  std::vector<LinkId> links;  // that it uses
  std::uint32_t shape = 0;
  bool known = false;         // false: it does not end
  std::uint64_t events = 0;  // of its simulation when all members start together
  // Of runs that were void, since others used its links meanwhile: which of its calls, in the order in which they
  // start.
  std::set<std::uint64_t> clashes;
  std::map<std::vector<Duration>, LonePlay> plays;  // by the members' starts, since the first one
};

class LoneCalls {
 public:
  explicit LoneCalls(const LoneInputs& inputs);

  // Addresses are stable.
  [[nodiscard]] LoneCall& collective(ClassId rank_class, DimensionId dimension, std::uint32_t spec);
  [[nodiscard]] LoneCall& message(const MessageOrder& order);
  // Members start so long after the first one. Null: it does not end. Its address is stable.
  [[nodiscard]] const LonePlay* play(LoneCall& call, const std::vector<Duration>& starts);
  // Of all calls.
  [[nodiscard]] std::size_t clashes() const;

 private:
  // A path, its links by number in the order in which the call's paths come to them.
  struct Path {
    struct Link {
      std::uint32_t number = 0;
      double share = 1.0;
      double multiplicity = 1.0;
      Bandwidth capacity;
      friend bool operator==(const Link&, const Link&) = default;
    };
    Duration latency;
    std::vector<Link> links;
    friend bool operator==(const Path&, const Path&) = default;
  };
  struct Shape {
    LoneCall* first = nullptr;        // the call that is simulated
    std::vector<RankId> ranks;        // that it names, as ranks_of()
    std::vector<RouteQuery> queries;
    std::vector<Path> paths;          // by query
    CollectivePlan plan;              // of a message
  };
  using CollectiveKey = std::tuple<ClassId, DimensionId, std::uint32_t>;
  using MessageKey = std::tuple<ClassId, ClassId, RankId, DimensionId, Bytes, int, int, std::uint32_t>;

  void find_shape(LoneCall& call);
  // What calls of one shape have in common besides their paths.
  [[nodiscard]] std::vector<std::uint64_t> common(const LoneCall& call, std::span<const RankId> ranks) const;
  // The ranks of its groups, each group once, in the order of its members.
  [[nodiscard]] std::vector<RankId> ranks_of(const LoneCall& call) const;
  [[nodiscard]] Path path_of(const RouteQuery& query, std::vector<LinkId>& links) const;
  [[nodiscard]] bool takes_equal_paths(const Shape& shape, std::span<const RankId> ranks, LoneCall& call) const;
  void simulate_first(LoneCall& call, std::vector<RankId> ranks);

  LoneInputs inputs_;
  LonePlayer player_;
  GroupRoster roster_;
  std::deque<LoneCall> calls_;
  std::map<CollectiveKey, LoneCall*> collectives_;
  std::map<MessageKey, LoneCall*> messages_;
  std::deque<Shape> shapes_;
  std::map<std::vector<std::uint64_t>, std::vector<std::uint32_t>> shapes_of_;  // by what they have in common
};

}  // namespace ringwright
