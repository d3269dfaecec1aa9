// A router for tests: the way from rank r is row r of a table, wherever it leads.
#pragma once

#include <initializer_list>
#include <span>
#include <utility>
#include <vector>

#include "core/ports/router.h"

namespace ringwright::network_models {

struct TableWay {
  Duration latency;
  std::vector<Hop> hops;
};

class TableRouter final : public Router {
 public:
  TableRouter(std::vector<Bandwidth> capacities, std::vector<TableWay> ways)
      : capacities_(std::move(capacities)), ways_(std::move(ways)) {}

  Duration route(const RouteQuery& query, std::vector<Hop>& hops) const override {
    const TableWay& way = ways_[query.from.index()];
    hops.assign(way.hops.begin(), way.hops.end());
    return way.latency;
  }
  [[nodiscard]] std::span<const Bandwidth> capacities() const override { return capacities_; }

 private:
  std::vector<Bandwidth> capacities_;
  std::vector<TableWay> ways_;
};

// A way over whole links.
[[nodiscard]] inline TableWay over(std::initializer_list<int> links, Duration latency = Duration(0)) {
  TableWay way = {.latency = latency, .hops = {}};
  for (const int link : links) way.hops.push_back({.link = LinkId(link)});
  return way;
}

}  // namespace ringwright::network_models
