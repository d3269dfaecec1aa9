// The distinct shapes of a task graph's groups.
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "core/plan/collective_call.h"

namespace ringwright {

// A call names its layout by address, and choices are stored by it. So a graph that is derived from another one and
// simulated with its choosers borrows the layouts instead of copying them.
class GroupLayouts {
 public:
  GroupLayouts() = default;
  explicit GroupLayouts(std::vector<GroupLayout> layouts) : own_(std::move(layouts)) {}

  // The same layouts at the same addresses; these must outlive it.
  [[nodiscard]] GroupLayouts borrowed() const {
    GroupLayouts result;
    result.borrowed_ = all();
    return result;
  }

  [[nodiscard]] std::size_t size() const { return all().size(); }
  const GroupLayout& operator[](std::size_t index) const { return all()[index]; }

 private:
  [[nodiscard]] std::span<const GroupLayout> all() const { return own_.empty() ? borrowed_ : std::span(own_); }

  std::vector<GroupLayout> own_;
  std::span<const GroupLayout> borrowed_;
};

}  // namespace ringwright
