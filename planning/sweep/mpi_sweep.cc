#include "planning/sweep/mpi_sweep.h"

#include <cstdint>
#include <cstdlib>
#include <vector>

#ifdef RINGWRIGHT_MPI
#include <mpi.h>
#endif

#include "core/base/check.h"
#include "planning/study/point_message.h"

namespace ringwright::planning {

bool is_under_mpirun() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK"}) {
    if (std::getenv(name) != nullptr) return true;
  }
  return false;
}

#ifdef RINGWRIGHT_MPI

namespace {

constexpr std::int64_t kNoMore = -1;
constexpr int kIndexTag = 1;
constexpr int kPointTag = 2;

void send_index(std::int64_t index, int rank) {
  MPI_Send(&index, 1, MPI_INT64_T, rank, kIndexTag, MPI_COMM_WORLD);
}

// The next message of any rank.
struct Received {
  int rank = 0;
  std::string text;
};
Received receive_text() {
  MPI_Status status;
  MPI_Probe(MPI_ANY_SOURCE, kPointTag, MPI_COMM_WORLD, &status);
  int size = 0;
  MPI_Get_count(&status, MPI_CHAR, &size);
  Received received{.rank = status.MPI_SOURCE, .text = std::string(static_cast<std::size_t>(size), '\0')};
  MPI_Recv(received.text.data(), size, MPI_CHAR, received.rank, kPointTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return received;
}

}  // namespace

bool has_mpi() {
  return true;
}

MpiSession::MpiSession() {
  if (!is_under_mpirun()) return;
  MPI_Init(nullptr, nullptr);
  MPI_Comm_rank(MPI_COMM_WORLD, &ranks_.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks_.ranks);
}

// The ranks that serve wait for the message that there is no more, also where rank 0 had nothing for them to do.
MpiSession::~MpiSession() {
  if (!is_under_mpirun()) return;
  if (ranks_.rank == 0) {
    for (int rank = 1; rank < ranks_.ranks; ++rank) send_index(kNoMore, rank);
  }
  MPI_Finalize();
}

SimulatePoints MpiSession::simulate_elsewhere(const StudyProgress& progress) {
  return [this, progress](const std::vector<std::size_t>& indices, const PointDone& done) {
    std::vector<std::size_t> item_of(static_cast<std::size_t>(ranks_.ranks));
    std::size_t next = 0;
    const auto hand_out = [&](int rank) {
      if (next == indices.size()) return;
      item_of[static_cast<std::size_t>(rank)] = next;
      send_index(static_cast<std::int64_t>(indices[next++]), rank);
    };
    for (int rank = 1; rank < ranks_.ranks; ++rank) hand_out(rank);
    for (std::size_t finished = 0; finished < indices.size(); ++finished) {
      const Received received = receive_text();
      auto point = unpacked(received.text);
      CHECK(point.has_value(), "ranks of one program understand each other");
      const std::size_t item = item_of[static_cast<std::size_t>(received.rank)];
      hand_out(received.rank);
      done(item, std::move(*point));
      if (progress) progress(finished + 1, indices.size());
    }
  };
}

void MpiSession::serve(const SweepPlan& plan, const std::string& scenario) {
  PointSource source(scenario);
  while (true) {
    std::int64_t index = kNoMore;
    MPI_Recv(&index, 1, MPI_INT64_T, 0, kIndexTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (index == kNoMore) return;
    const std::string text = packed(simulate_combination(plan, source, static_cast<std::size_t>(index)));
    MPI_Send(text.data(), static_cast<int>(text.size()), MPI_CHAR, 0, kPointTag, MPI_COMM_WORLD);
  }
}

#else

bool has_mpi() {
  return false;
}

MpiSession::MpiSession() = default;
MpiSession::~MpiSession() = default;

SimulatePoints MpiSession::simulate_elsewhere(const StudyProgress& /*progress*/) {
  return {};
}

void MpiSession::serve(const SweepPlan& /*plan*/, const std::string& /*scenario*/) {}

#endif

}  // namespace ringwright::planning
