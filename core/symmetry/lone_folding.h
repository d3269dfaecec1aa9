// Folding of a group that is alone on its network: only the links on its own paths count.
//
// A call of a few hosts crosses hundreds of a network's tens of thousands of links. The others carry nothing, so that
// they are in no class with those, and whoever simulates the call alone asks for none of them.
#pragma once

#include "core/symmetry/folding.h"

namespace ringwright {

// As fold(), with the same classes in the same order, except that links which no path crosses are in no class, and
// that it is not found out why ranks fold little.
[[nodiscard]] Folding fold_alone(const TaskGraph& graph, const Choosers& choosers, const Router& router);

}  // namespace ringwright
