// Parameter servers (Li et al., "Scaling Distributed Machine Learning with the Parameter Server", OSDI 2014; MXNet's
// KVStore, BytePS): a reduce-scatter in which every worker pushes one part of its gradients to each server, which adds
// what arrives; an all-gather in which every server sends its part of the parameters to each worker.
//
// Time without latency, n workers and k servers on links of B bytes per second: a worker sends S, a dedicated server
// receives n S / k, so that a push takes S max(1, n / k) / B, and the answer as long. Where every one of n workers is a
// server, too, both are the direct exchange: S (n - 1) / n / B.
#include "collectives/steps/parameter_server.h"

#include "collectives/shapes/cut.h"
#include "collectives/shapes/ring_order.h"

namespace ringwright::collectives {
namespace {

// Members of one call: who sends to whom, and in which order.
class Exchange {
 public:
  explicit Exchange(const CollectiveCall& call)
      : call_(call), size_(call.size()), servers_(call.layout->servers), first_(size_ - servers_.count) {}

  [[nodiscard]] bool serves(int member) const { return member >= first_; }
  [[nodiscard]] bool works(int member) const { return !servers_.dedicated || member < first_; }
  [[nodiscard]] int part_of(int server) const { return server - first_; }
  [[nodiscard]] Bytes part_size(int server) const {
    return Cut(call_.bytes, servers_.count).size(part_of(server));
  }

  // Of a sender: its receivers. Lists begin at different members, so that no receiver is at the same index of all.
  [[nodiscard]] int receivers() const { return pushes() ? servers_.count : workers(); }
  [[nodiscard]] int receiver(int sender, int index) const {
    return pushes() ? first_ + wrap(sender + index, servers_.count) : wrap(start(sender) + index, workers());
  }
  [[nodiscard]] bool sends(int member) const { return pushes() ? works(member) : serves(member); }
  // The number of the message among the sender's: itself is left out.
  [[nodiscard]] int send_to(int sender, int peer) const {
    const int index = index_of(sender, peer);
    const bool has_itself = serves(sender) && works(sender);
    return has_itself && index_of(sender, sender) < index ? index - 1 : index;
  }
  [[nodiscard]] bool pushes() const { return call_.kind == CollectiveKind::kReduceScatter; }

 private:
  [[nodiscard]] int workers() const { return servers_.dedicated ? first_ : size_; }
  [[nodiscard]] int start(int server) const { return servers_.dedicated ? part_of(server) : server; }
  [[nodiscard]] int index_of(int sender, int peer) const {
    return pushes() ? wrap(part_of(peer) - sender, servers_.count) : wrap(peer - start(sender), workers());
  }

  const CollectiveCall& call_;
  int size_;
  ParameterServers servers_;
  int first_;  // server
};

class ParameterServer final : public CollectiveAlgorithm {
 public:
  [[nodiscard]] std::string_view name() const override { return "parameter_server"; }
  [[nodiscard]] std::string_view help() const override {
    return "workers push parts of their gradients to servers, and pull parameters from them (ps-lite, BytePS)";
  }
  [[nodiscard]] bool supports(const CollectiveCall& call) const override {
    return call.layout->servers.count > 0 &&
           (call.kind == CollectiveKind::kReduceScatter || call.kind == CollectiveKind::kAllGather);
  }
  [[nodiscard]] int steps(const CollectiveCall& call) const override { return call.size() > 1 ? 1 : 0; }

  void step(const CollectiveCall& call, int member, int, CollectiveStep& out) const override {
    out.clear();
    const Exchange exchange(call);
    for (int index = 0; exchange.sends(member) && index < exchange.receivers(); ++index) {
      const int peer = exchange.receiver(member, index);
      if (peer == member) continue;
      out.sends.push_back({.peer = peer, .size = exchange.part_size(exchange.pushes() ? peer : member)});
    }
    const bool receives = exchange.pushes() ? exchange.serves(member) : exchange.works(member);
    for (int peer = 0; receives && peer < call.size(); ++peer) {
      if (peer == member || !exchange.sends(peer)) continue;
      out.awaits.push_back({.peer = peer, .send = exchange.send_to(peer, member)});
    }
  }

  [[nodiscard]] int pieces(const CollectiveCall& call) const override { return call.layout->servers.count; }
  [[nodiscard]] Bytes piece_size(const CollectiveCall& call, int piece) const override {
    return Cut(call.bytes, call.layout->servers.count).size(piece);
  }
  void contents(const CollectiveCall& call, int member, int index, int send, SendContents& out) const override {
    const Exchange exchange(call);
    CollectiveStep own;
    step(call, member, index, own);
    const int server = exchange.pushes() ? own.sends[static_cast<std::size_t>(send)].peer : member;
    out.pieces.assign(1, exchange.part_of(server));
    out.reduce = exchange.pushes();
  }
  // Of equal parts, where every member is worker and server.
  [[nodiscard]] bool rotation_symmetric(const CollectiveCall& call) const override {
    const ParameterServers& servers = call.layout->servers;
    return !servers.dedicated && servers.count == call.size() && Cut(call.bytes, servers.count).even();
  }
};

}  // namespace

const CollectiveAlgorithm& parameter_server() {
  static const ParameterServer algorithm;
  return algorithm;
}

}  // namespace ringwright::collectives
