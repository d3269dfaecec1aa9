// SimGrid as a network model (checked with 3.32 of Debian 12).
#include "tests/peers/simgrid/simgrid_network.h"

#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include <simgrid/kernel/Timer.hpp>
#include <simgrid/kernel/routing/NetPoint.hpp>
#include <simgrid/kernel/routing/NetZoneImpl.hpp>

namespace ringwright::peers {
namespace {

namespace sg = simgrid::s4u;
using simgrid::kernel::routing::NetPoint;
using simgrid::kernel::routing::NetZoneImpl;

class RouterZone final : public NetZoneImpl {
 public:
  explicit RouterZone(const Router& router) : NetZoneImpl("fabric"), router_(router) {}

  void add_links() {
    for (const Bandwidth capacity : router_.capacities()) {
      sg::Link* link = get_iface()->create_link("link" + std::to_string(links_.size()), capacity.count());
      links_.push_back(link->set_latency(0.0)->seal()->get_impl());
    }
  }
  void get_local_route(const NetPoint* from, const NetPoint* to, simgrid::kernel::routing::Route* into,
                       double* latency) override {
    const Duration path = router_.route(
        {.from = RankId(std::size_t{from->id()}), .to = RankId(std::size_t{to->id()})}, hops_);
    for (const Hop& hop : hops_) into->link_list_.push_back(links_[hop.link.index()]);
    *latency += to_seconds(path);
  }

 private:
  const Router& router_;
  std::vector<simgrid::kernel::resource::StandardLinkImpl*> links_;
  std::vector<Hop> hops_;
};

// A message in flight; keeps it alive until it has ended.
struct Message {
  sg::CommPtr comm;
  TransferListener* listener = nullptr;
  std::uint64_t token = 0;
};

void on_end(const sg::Activity& activity) {
  const auto& comm = static_cast<const sg::Comm&>(activity);  // there are no other activities here
  const std::unique_ptr<Message> message(comm.get_data<Message>());
  message->listener->on_arrived(message->token);
}

}  // namespace

TimePoint SimgridClock::now() const {
  return TimePoint(Duration(std::llround(sg::Engine::get_clock() * 1e12)));
}

void SimgridClock::call_at(TimePoint when, std::function<void()> action) {
  simgrid::kernel::timer::Timer::set(to_seconds(when.since_start()), std::move(action));
}

void choose_raw_sharing(sg::Engine& /*engine*/) {
  sg::Engine::set_config("network/model:CM02");
  sg::Engine::set_config("network/TCP-gamma:0");
  sg::Engine::set_config("network/crosstraffic:0");
  sg::Engine::set_config("surf/precision:1e-12");  // by default events less than 1 ns apart are merged
}

SimgridNetwork::SimgridNetwork(const Router& router, std::uint32_t ranks) {
  // SimGrid owns its zones.
  RouterZone* zone = std::make_unique<RouterZone>(router).release();
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    hosts_.push_back(zone->get_iface()->create_host("rank" + std::to_string(rank), 1e9)->seal());
  }
  zone->add_links();
  zone->get_iface()->seal();
  sg::Activity::on_completion_cb(on_end);
}

void SimgridNetwork::start(const Transfer& transfer, TransferListener& listener) {
  ++started_;
  auto message = std::make_unique<Message>();
  message->comm = sg::Comm::sendto_init(hosts_[transfer.from.index()], hosts_[transfer.to.index()]);
  message->comm->set_payload_size(static_cast<std::uint64_t>(transfer.size.count()));
  message->listener = &listener;
  message->token = transfer.token;
  const sg::CommPtr comm = message->comm;
  comm->set_data(message.release());
  comm->vetoable_start();
}

}  // namespace ringwright::peers
