// Central routing: a controller that knows which pairs of a job talk gives each of them the path, among those that
// hashing could give, on which it meets the fewest others.
//
// What Tencent's global router (GOR) and planned source ports of E-ECMP do: a switch hashes the header, so that the
// port number of a connection selects its path. Here a path is a label of the hash. Pairs of one role (the same step of
// the same calls) count as simultaneous. They are placed one by one where the sum over their links of load^6 rises
// least, then moved while that sum falls; a high power stands for the largest load. Among equals the loads of all roles
// together decide.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/ports/router.h"
#include "network_models/topologies/routing.h"

namespace ringwright::network_models {

class CentralRouter final : public Router {
 public:
  explicit CentralRouter(std::unique_ptr<Router> hashed) : hashed_(std::move(hashed)) {}

  struct Pair {
    RouteQuery query;
    std::uint64_t role = 0;
  };
  // Of a plan: 100 million paths are looked at in one pass.
  static constexpr std::size_t kMostPairs = 780'000;
  // The pairs of the job; before the first simulated transfer. Others are hashed. False: there are more than
  // kMostPairs, and all are hashed.
  [[nodiscard]] bool plan(std::span<const Pair> pairs);

  Duration route(const RouteQuery& query, std::vector<Hop>& hops) const override;
  [[nodiscard]] std::span<const LinkId> twins() const override { return hashed_->twins(); }
  [[nodiscard]] std::span<const Bandwidth> capacities() const override { return hashed_->capacities(); }

 private:
  struct Key {
    std::uint64_t ends = 0;
    std::uint64_t header = 0;  // label, kind and NICs
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct HashOfKey {
    std::size_t operator()(const Key& key) const { return mix(key.ends, key.header); }
  };
  [[nodiscard]] static Key key_of(const RouteQuery& query);
  void place(std::span<const RouteQuery> role);
  void add_load(const RouteQuery& pair, std::uint32_t label, double sign);
  [[nodiscard]] double rise(const RouteQuery& pair, std::uint32_t label);
  [[nodiscard]] std::uint32_t best_label(const RouteQuery& pair, std::uint32_t stay);
  [[nodiscard]] bool has_choice(const RouteQuery& pair);

  std::unique_ptr<Router> hashed_;
  std::unordered_map<Key, std::uint32_t, HashOfKey> label_of_;
  std::vector<double> load_;      // by link, flows of the role that is placed; scratch of plan
  std::vector<double> all_load_;  // of all roles so far; scratch of plan
  Bandwidth fastest_;             // link
  std::vector<Hop> hops_;         // scratch of plan
};

// The network as it is, or with paths that the job's plan decides.
struct Network;
[[nodiscard]] Network with_central_routing(Network network, const Routing& routing);

}  // namespace ringwright::network_models
