// Overheads of a step's calls and times of their formulas, for the next step with the same groups: calls name their
// layouts by address, and groups that are taken over keep these. Of one machine and one choice of algorithms.
#pragma once

#include <map>
#include <tuple>
#include <utility>

#include "core/base/ids.h"
#include "core/base/units.h"
#include "core/plan/collective_call.h"
#include "core/ports/collective_time.h"

namespace ringwright::configs {

class AskedCalls {
 public:
  [[nodiscard]] bool know(const CollectiveCall& call) const { return overheads_.contains(key_of(call)); }
  // Its overhead, and whether it is the first time that it is asked for: then it is to be set.
  [[nodiscard]] std::pair<Duration&, bool> ask(const CollectiveCall& call) {
    const auto [entry, is_new] = overheads_.try_emplace(key_of(call));
    return {entry->second, is_new};
  }
  // The same of the time of its formula.
  [[nodiscard]] std::pair<Duration&, bool> ask_formula(const CollectiveCall& call) {
    const auto [entry, is_new] = formulas_.try_emplace(key_of(call));
    return {entry->second, is_new};
  }
  void clear() {
    overheads_.clear();
    formulas_.clear();
  }

 private:
  using Key = std::tuple<const GroupLayout*, DimensionId, CollectiveKind, Bytes, int>;
  [[nodiscard]] static Key key_of(const CollectiveCall& call) {
    return {call.layout, call.dimension, call.kind, call.bytes, call.root};
  }
  std::map<Key, Duration> overheads_;
  std::map<Key, Duration> formulas_;
};

// A formula whose times are looked up among those of earlier steps. References must outlive it.
class AskedFormula final : public CollectiveTime {
 public:
  AskedFormula(const CollectiveTime& formula, AskedCalls& asked) : formula_(formula), asked_(asked) {}
  [[nodiscard]] Duration time(const CollectiveCall& call) const override {
    const auto [time, is_new] = asked_.ask_formula(call);
    if (is_new) time = formula_.time(call);
    return time;
  }
  [[nodiscard]] Bytes sent(const CollectiveCall& call) const override { return formula_.sent(call); }

 private:
  const CollectiveTime& formula_;
  AskedCalls& asked_;
};

}  // namespace ringwright::configs
