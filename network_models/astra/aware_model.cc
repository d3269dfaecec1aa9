// ASTRA-sim's congestion-aware rule for the transfers of any scenario: every link of a path sends whole messages one
// after another (network_models/astra/message_queues.h).
//
// The latency of a path is spread evenly over its links, which in ASTRA-sim's blocks are equal. A transfer without
// bytes takes the latency and waits for nobody: ASTRA-sim has none.
#include <memory>
#include <utility>
#include <vector>

#include "core/engine/engine.h"
#include "network_models/astra/astra_time.h"
#include "network_models/astra/message_queues.h"
#include "network_models/builtin.h"
#include "network_models/flow/link_meters.h"
#include "network_models/flow/transfer_query.h"

namespace ringwright::network_models {

std::unique_ptr<NetworkModel> make_astra_aware_model(const ModelInputs& inputs);

namespace {

class RoutedMessages final : public NetworkModel {
 public:
  // For the queues of links, in picoseconds.
  struct Message {
    std::uint32_t transfer = 0;
    std::uint32_t hop = 0;
    std::uint32_t hops_left = 0;
    std::uint32_t next = kNoMessage;
    bool at_source = true;
  };

  explicit RoutedMessages(const ModelInputs& inputs)
      : engine_(inputs.engine),
        router_(inputs.router),
        queues_(*this, inputs.router.capacities().size()),
        meters_(inputs.router.capacities().size()) {}

  // --- NetworkModel ---
  void start(const Transfer& transfer, TransferListener& listener) override;
  [[nodiscard]] bool set_aside(std::span<const LinkId> links, TimePoint until) override {
    return meters_.set_aside(links, engine_.now(), until);
  }
  void end_aside(std::span<const LinkId> links, TimePoint until) override { meters_.end_aside(links, until); }
  [[nodiscard]] bool trespassed() const override { return meters_.trespassed(); }
  [[nodiscard]] bool trespassed_on(std::span<const LinkId> links, TimePoint since) const override {
    return meters_.trespassed_on(links, since);
  }
  [[nodiscard]] std::vector<LinkUsage> usage() const override;
  [[nodiscard]] std::vector<Counter> counters() const override { return {{.name = "flows", .value = started_}}; }

  // --- the traffic of the queues ---
  [[nodiscard]] Tick now() const { return engine_.now().since_start().count(); }
  [[nodiscard]] Tick moment(Tick delay) const { return (engine_.now() + Duration(delay)).since_start().count(); }
  void at(Tick when, std::uint32_t event) {
    engine_.at(TimePoint(Duration(when)), [this, event] { queues_.on_event(event); });
  }
  void deliver(const Message& message, Tick when) {
    const std::uint32_t index = message.transfer;
    engine_.at(TimePoint(Duration(when)), [this, index] { arrive_at_receiver(index); });
  }
  [[nodiscard]] std::uint32_t link_of(const Message& message) const { return hop_of(message).link.value; }
  [[nodiscard]] MessageTimes times(std::uint32_t link, const Message& message) const;
  void started(MessageLink& link, const Message& message, Tick occupancy);
  static void arrive(Message& message) { ++message.hop; }

 private:
  struct Row {
    Bytes size;
    std::uint32_t copies = 1;
    std::uint32_t left = 0;     // copies that have not arrived
    std::uint32_t repeats = 1;  // times that are left, with the one in flight
    Duration latency;           // of one link
    TransferListener* listener = nullptr;
    std::uint64_t token = 0;
    std::vector<Hop> route;  // keeps its memory when the row is reused
  };

  [[nodiscard]] const Hop& hop_of(const Message& message) const { return rows_[message.transfer].route[message.hop]; }
  void send(std::uint32_t index);
  void arrive_at_receiver(std::uint32_t index);

  Engine& engine_;
  const Router& router_;
  std::vector<Row> rows_;
  std::vector<std::uint32_t> free_rows_;
  std::uint64_t started_ = 0;
  MessageQueues<RoutedMessages> queues_;
  LinkMeters meters_;  // which links transfers in flight will use, and the bytes that they sent
};

void RoutedMessages::start(const Transfer& transfer, TransferListener& listener) {
  if (free_rows_.empty()) {
    free_rows_.push_back(static_cast<std::uint32_t>(rows_.size()));
    rows_.emplace_back();
  }
  const std::uint32_t index = free_rows_.back();
  free_rows_.pop_back();
  Row& row = rows_[index];
  const Duration latency = router_.route(query_of(transfer), row.route);
  row.size = transfer.size;
  row.copies = transfer.copies;
  row.repeats = transfer.repeats;
  row.latency = transfer.pays_latency ? latency : Duration();
  row.listener = &listener;
  row.token = transfer.token;
  started_ += transfer.repeats;
  for (const Hop& hop : row.route) {
    if (row.size > Bytes(0)) meters_.enter(hop.link.value, engine_.now());
  }
  send(index);
}

void RoutedMessages::send(std::uint32_t index) {
  Row& row = rows_[index];
  const auto hops = static_cast<std::uint32_t>(row.route.size());
  if (row.size == Bytes(0) || hops == 0) {
    row.left = 1;
    engine_.after(row.latency, [this, index] { arrive_at_receiver(index); });
    return;
  }
  row.left = row.copies;
  for (std::uint32_t copy = 0; copy < row.copies; ++copy) queues_.send({.transfer = index, .hops_left = hops});
}

MessageTimes RoutedMessages::times(std::uint32_t link, const Message& message) const {
  const Row& row = rows_[message.transfer];
  const Hop& hop = hop_of(message);
  const auto hops = static_cast<std::int64_t>(row.route.size());
  AstraLink timed = astra_link(router_.capacities()[link] * (1.0 / hop.share), row.latency);
  timed.latency_ns /= static_cast<double>(hops);
  return {.delay = in_nanoseconds(timed.delay(1, row.size.count())).count(),
          .occupancy = in_nanoseconds(timed.occupancy(row.size.count())).count()};
}

void RoutedMessages::started(MessageLink& link, const Message& message, Tick occupancy) {
  link.busy = (Duration(link.busy) + Duration(occupancy)).count();
  const Hop& hop = hop_of(message);
  meters_.carry(hop.link.value, hop.share * static_cast<double>(rows_[message.transfer].size.count()));
}

void RoutedMessages::arrive_at_receiver(std::uint32_t index) {
  Row& row = rows_[index];
  if (--row.left > 0) return;
  if (--row.repeats > 0) {
    send(index);
    return;
  }
  for (const Hop& hop : row.route) {
    if (row.size > Bytes(0)) meters_.leave(hop.link.value, engine_.now());
  }
  free_rows_.push_back(index);
  // Last: the listener may start a transfer, which may reuse this row.
  TransferListener* const listener = row.listener;
  const std::uint64_t token = row.token;
  listener->on_arrived(token);
}

// A link is busy while it sends; of the message that it sends now, the part that it has not sent does not count.
std::vector<LinkUsage> RoutedMessages::usage() const {
  std::vector<LinkUsage> usage = meters_.usage(engine_.now());
  for (std::size_t link = 0; link < usage.size(); ++link) {
    const MessageLink& queue = queues_.links()[link];
    const Duration unsent(std::max<Tick>(queue.free_at - now(), 0));
    usage[link].busy = Duration(queue.busy) - unsent;
    usage[link].bytes = std::max(0.0, usage[link].bytes - to_seconds(unsent) * router_.capacities()[link].count());
  }
  return usage;
}

}  // namespace

std::unique_ptr<NetworkModel> make_astra_aware_model(const ModelInputs& inputs) {
  return std::make_unique<RoutedMessages>(inputs);
}

}  // namespace ringwright::network_models
