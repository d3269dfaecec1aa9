// Benchmarks whose cases lie in files: the peers' tables and the shipped scenarios.
#pragma once

namespace ringwright::bench {

void register_peer_cases();
void register_scenarios();

}  // namespace ringwright::bench
