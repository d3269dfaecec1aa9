// How many hosts and ranks have experts of a token, whose vector a dispatcher like DeepEP sends to each of them once.
#pragma once

namespace ringwright::workload {

struct ExpertShape;

// The expected number of places that have at least one of a token's experts. `places`: hosts or ranks, with equally
// many consecutive experts each. Routing is a random choice of `per_token` of all experts or, with a group limit, of
// the experts of so many groups, of which each has one at least: groups are chosen for their best experts
// (DeepSeek-V2, arXiv 2405.04434, section 2.2.2; DeepSeek-V3, arXiv 2412.19437, section 2.1.2). Tokens with random
// scores give the same within 2 % for both models; a limit that is not far below the number of groups is
// overestimated, but never above what it is without one. Where places and groups do not divide each other, the limit
// is taken into account only as a bound.
[[nodiscard]] double places_visited(const ExpertShape& experts, int places);

}  // namespace ringwright::workload
