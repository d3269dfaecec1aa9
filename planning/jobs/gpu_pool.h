// The GPUs of a cluster: which are free, and where a job finds some.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "planning/jobs/cluster_job.h"
#include "planning/jobs/job_speed.h"

namespace ringwright::planning {

// The GPUs of one job.
struct Grant {
  struct Part {
    int host = 0;
    int gpus = 0;
  };
  std::vector<Part> parts;
  int share = kWholeGpu;       // of the one GPU
  std::size_t shared_gpu = 0;  // which, where it is less than kWholeGpu
  bool only_one = false;       // no other part of that GPU was taken with this
  Locality locality = Locality::kHost;
  [[nodiscard]] int gpus() const {
    int sum = 0;
    for (const Part& part : parts) sum += part.gpus;
    return sum;
  }
};

// kStrict: as few hosts as possible, and one unit where a unit is large enough. kRelaxed: any.
enum class Search : std::uint8_t { kStrict, kRelaxed };

class GpuPool {
 public:
  explicit GpuPool(const ClusterShape& shape);

  // kOnlyOne: no other part of the GPU is taken so.
  enum class Company : std::uint8_t { kAny, kOnlyOne };
  // What a job asks for: whole GPUs, or a part of one.
  struct Wish {
    int gpus = 1;
    Search search = Search::kStrict;
    int share = kWholeGpu;
    Company company = Company::kAny;
  };

  [[nodiscard]] std::optional<Grant> take(int gpus, Search search);
  // A part of one GPU: of one in use where it fits.
  [[nodiscard]] std::optional<Grant> take_share(int share, Company company = Company::kAny);
  [[nodiscard]] std::optional<Grant> take(const Wish& wish) {
    return wish.share < kWholeGpu ? take_share(wish.share, wish.company) : take(wish.gpus, wish.search);
  }
  // Whether it would be found.
  [[nodiscard]] bool has(const Wish& wish) const;
  void give_back(const Grant& grant);
  // The same GPUs again, or the same part of a GPU; nothing: they are not all free.
  [[nodiscard]] std::optional<Grant> take_again(const Grant& grant);

  [[nodiscard]] int free() const { return free_; }  // whole GPUs
  // Free GPUs of hosts that are in use: a job of whole hosts cannot have them.
  [[nodiscard]] int fragmented() const {
    return free_ - static_cast<int>(hosts_with_.back().size()) * shape_.gpus_per_host;
  }
  // GPUs in use as parts, and what is used of them, in parts of kWholeGpu.
  [[nodiscard]] int shared_gpus() const { return shared_gpus_; }
  [[nodiscard]] std::int64_t shared_parts() const { return shared_parts_; }

 private:
  struct SharedGpu {
    int host = 0;
    int left = kWholeGpu;  // all of it: it is a whole GPU again
    bool has_only_one = false;
  };
  using OpenGpus = std::set<std::pair<int, std::size_t>>;  // what is left, and number, of each that has some

  void change(int host, int by);
  [[nodiscard]] int unit_of(int host) const { return host / shape_.hosts_per_unit; }
  using Parts = std::vector<Grant::Part>;  // empty: there is no place
  [[nodiscard]] Parts in_one_host(int gpus) const;
  [[nodiscard]] Parts in_whole_hosts(int gpus) const;
  [[nodiscard]] Parts anywhere(int gpus) const;
  [[nodiscard]] Parts place_of(int gpus, Search search) const;
  // Of the hosts in use of a unit, the one with the fewest free GPUs that suffice; -1: none has so many.
  [[nodiscard]] int tightest_host_in_use(std::size_t unit, int gpus) const;
  // The number of a GPU that is shared from now on.
  [[nodiscard]] std::size_t open_shared(int host);
  [[nodiscard]] Grant join_shared(std::size_t number, int share, Company company);
  [[nodiscard]] OpenGpus& open_like(const SharedGpu& gpu) { return open_[gpu.has_only_one ? 1 : 0]; }
  // The number of the shared GPU on which least is left that suffices.
  [[nodiscard]] std::optional<std::size_t> tightest(int share, Company company) const;
  [[nodiscard]] std::optional<Grant> granted(Parts parts);

  ClusterShape shape_;
  int free_;
  std::vector<int> free_of_host_;
  std::vector<std::set<int>> hosts_with_;     // by free GPUs
  std::vector<std::set<int>> whole_of_unit_;  // by unit: hosts that are free
  std::vector<int> free_of_unit_;
  std::vector<SharedGpu> shared_;
  std::array<OpenGpus, 2> open_;     // without a part taken as kOnlyOne, and with one
  std::vector<std::size_t> unused_;  // numbers of shared_ to use again; some may be in use again
  int shared_gpus_ = 0;
  std::int64_t shared_parts_ = 0;
};

}  // namespace ringwright::planning
