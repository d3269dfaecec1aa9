// A router for tests: the path from rank r is row r of a table, for any destination.
#pragma once

#include <initializer_list>
#include <span>
#include <utility>
#include <vector>

#include "core/ports/router.h"

namespace ringwright::network_models {

struct TableRoute {
  Duration latency;
  std::vector<Hop> hops;
};

class TableRouter final : public Router {
 public:
  TableRouter(std::vector<Bandwidth> capacities, std::vector<TableRoute> paths)
      : capacities_(std::move(capacities)), paths_(std::move(paths)) {}

  Duration route(const RouteQuery& query, std::vector<Hop>& hops) const override {
    const TableRoute& path = paths_[query.from.index()];
    hops.assign(path.hops.begin(), path.hops.end());
    return path.latency;
  }
  [[nodiscard]] std::span<const Bandwidth> capacities() const override { return capacities_; }

 private:
  std::vector<Bandwidth> capacities_;
  std::vector<TableRoute> paths_;
};

// A path over whole links.
[[nodiscard]] inline TableRoute over(std::initializer_list<int> links, Duration latency = Duration(0)) {
  TableRoute path = {.latency = latency, .hops = {}};
  for (const int link : links) path.hops.push_back({.link = LinkId(link)});
  return path;
}

}  // namespace ringwright::network_models
