// A sweep on several machines: under mpirun, rank 0 hands out points one by one, and the other ranks simulate them.
//
// Only rank 0 opens the database and prints. Without MPI in the build there is one rank.
#pragma once

#include <string>

#include "planning/study/workers.h"
#include "planning/sweep/sweep.h"

namespace ringwright::planning {

struct MpiRanks {
  int rank = 0;
  int ranks = 1;
};

// Whether mpirun started this process, as its environment says.
[[nodiscard]] bool is_under_mpirun();
[[nodiscard]] bool has_mpi();  // in this build

// Joins the other ranks while it lives. A process that mpirun did not start is alone.
class MpiSession {
 public:
  MpiSession();
  ~MpiSession();
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;

  [[nodiscard]] const MpiRanks& ranks() const { return ranks_; }

  // Of rank 0: simulates points on the other ranks.
  [[nodiscard]] SimulatePoints simulate_elsewhere(const StudyProgress& progress);
  // Of the other ranks: simulates what rank 0 hands out, until it has no more.
  void serve(const SweepPlan& plan, const std::string& scenario);

 private:
  MpiRanks ranks_;
};

}  // namespace ringwright::planning
