// The distinct shapes of a task graph's groups.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "core/plan/collective_call.h"

namespace ringwright {

// Copies share the layouts. A call names its layout by address, and choices are stored by it: a copy of a graph gets
// those of the original.
class GroupLayouts {
 public:
  GroupLayouts() = default;
  explicit GroupLayouts(std::vector<GroupLayout> layouts)
      : layouts_(std::make_shared<const std::vector<GroupLayout>>(std::move(layouts))) {}

  [[nodiscard]] std::size_t size() const { return layouts_ ? layouts_->size() : 0; }
  const GroupLayout& operator[](std::size_t index) const { return (*layouts_)[index]; }

 private:
  std::shared_ptr<const std::vector<GroupLayout>> layouts_;  // null: none
};

}  // namespace ringwright
