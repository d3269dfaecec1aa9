// Times of the kernels of large calls of many ranks, on lines between few calls that are simulated.
//
// In the size: kernels repeat loops over chunks, so that beyond some loops time is a straight line. In the hosts of a
// ring: each further host adds the same steps to the path of each byte, so that with equal shares of a rank time is a
// straight line, too. Sizes, and hosts, are doubled until two doublings show the line. What they are does not depend on
// the call's own size, nor on the order of calls.
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <vector>

#include "configs/simulation/known_overheads.h"
#include "configs/simulation/sampled_hosts.h"
#include "core/plan/collective_call.h"
#include "core/ports/channel_algorithm.h"
#include "core/ports/router.h"

namespace ringwright::configs {

class InterpolatedKernels {
 public:
  // References outlive this.
  struct Inputs {
    KnownOverheads& known;
    const Router& router;
    int per_host = 1;  // GPUs
    // Of one call with these kernels alone, as simulated on these hosts of the network; none: on its first ones.
    std::function<Duration(const CollectiveCall&, const ChannelChoice&, const std::vector<int>& hosts)> alone;
  };
  explicit InterpolatedKernels(Inputs inputs) : inputs_(std::move(inputs)) {}

  // Whether lines may cost less than to simulate the call: it has many members and many chunks. An all-to-all must also
  // be larger than the sizes of its shortest line together: its size follows from few settings, so that few calls share
  // a line, whereas gradients have many sizes.
  [[nodiscard]] static bool save_time(const CollectiveCall& call, const CollectivePlan& plan);
  [[nodiscard]] Duration time(const CollectiveCall& call, const ChannelChoice& choice, const KnownOverheads::Key& key);
  // Of a ring of thousands of ranks, by a line in its hosts alone; none for other groups, or where no line is found.
  [[nodiscard]] std::optional<Duration> of_thousands(const CollectiveCall& call, const ChannelChoice& choice,
                                                     const KnownOverheads::Key& key);

 private:
  // A call, the kernels that it is simulated with, whatever its size and its hosts, and its name in the store.
  struct Point {
    CollectiveCall call;
    const ChannelChoice& choice;
    KnownOverheads::Key key;
    std::vector<int> hosts = {};  // of the network that it is simulated on; none: the first ones
  };
  [[nodiscard]] std::optional<Duration> on_line_of_sizes(const Point& point);
  [[nodiscard]] Duration of_size(Point point, Bytes bytes);
  [[nodiscard]] static bool may_be_sampled(const Point& point);
  // How much the slopes of a line for `hosts` may differ whose largest sample has `most`.
  using Tolerance = double (*)(int hosts, int most);
  [[nodiscard]] std::optional<Duration> on_line_of_hosts(const Point& point, Tolerance tolerance);
  [[nodiscard]] std::optional<Duration> on_line_of_runs(const Point& point);
  [[nodiscard]] Duration on_sample(const Point& point, std::vector<int> hosts);
  [[nodiscard]] Duration simulated(Point point);
  [[nodiscard]] SampledHosts sampled(const GroupLayout& layout, const CollectivePlan& plan) const;
  [[nodiscard]] SampledHosts::KindOfPath paths_between_hosts(const GroupLayout& layout,
                                                             const CollectivePlan& plan) const;

  Inputs inputs_;
  std::deque<GroupLayout> layouts_;  // on fewer hosts; all of them, since choosers identify a layout by its address
};

}  // namespace ringwright::configs
