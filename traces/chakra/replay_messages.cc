#include "traces/chakra/replay_messages.h"

#include <algorithm>
#include <optional>
#include <tuple>

#include <fmt/format.h>

#include "core/plan/task_graph.h"

namespace ringwright::traces {
namespace {

constexpr std::uint32_t kMostQueues = 2 * kChannels;

// One end of a message.
struct MessageEnd {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  std::int64_t tag = 0;
  std::uint32_t order = 0;  // among the sends, or the receives, of its rank
  std::uint32_t node = 0;   // position in the trace of its rank
  Bytes size;
  std::optional<std::uint32_t> dimension;  // that of its process group
};

std::tuple<std::uint32_t, std::uint32_t, std::int64_t> key_of(const MessageEnd& end) {
  return {end.from, end.to, end.tag};
}

struct MatchedPair {
  const MessageEnd* sent = nullptr;
  const MessageEnd* received = nullptr;
};

class Matching {
 public:
  Matching(const ChakraJob& job, const ReplayGroups& groups, const std::vector<TraceCalls>& calls)
      : job_(job), groups_(groups), calls_(calls) {}

  [[nodiscard]] Result<MessageQueues> match() {
    collect();
    pair_up();
    if (unmatched_sends_ + unmatched_receives_ > 0) {
      std::string some;
      for (const std::string& example : unmatched_) some += (some.empty() ? "" : "; ") + example;
      error(fmt::format("{} sends and {} receives have no partner: {}", unmatched_sends_, unmatched_receives_, some),
            "each send needs a receive on rank comm_dst with the sender as comm_src and the same comm_tag");
    }
    if (problems_.has_errors()) return tl::unexpected(std::move(problems_));
    assign_queues();
    if (queues_.count > kMostQueues) {
      return tl::unexpected(failure(
          "E250", fmt::format("a rank takes messages of {} tags in another order than they are sent", queues_.count),
          {.file = job_.prefix}, fmt::format("at most {} tags may overtake each other", kMostQueues)));
    }
    return std::move(queues_);
  }

 private:
  void error(std::string message, std::string hint = {}) {
    if (problems_.error_count() >= 100) return;
    problems_.add(
        {.code = "E250", .place = {.file = job_.prefix}, .message = std::move(message), .hint = std::move(hint)});
  }

  [[nodiscard]] bool is_rank(std::uint32_t rank, const TraceMessage& message, std::string_view attribute) {
    if (message.peer >= 0 && message.peer < static_cast<std::int64_t>(job_.ranks()) && message.peer != rank)
      return true;
    const ChakraTrace& trace = job_.of(rank);
    error(fmt::format("rank {}: {} has {} {}, which is {}", rank, describe(trace, trace.nodes[message.node]), attribute,
                      message.peer, message.peer == rank ? "the rank itself" : "no rank of the job"));
    return false;
  }

  [[nodiscard]] std::optional<std::uint32_t> dimension_of(std::uint32_t rank, const TraceMessage& message) const {
    return groups_.of_message(job_.of(rank).texts[message.group]);
  }

  void collect() {
    for (std::uint32_t rank = 0; rank < job_.ranks(); ++rank) {
      const TraceCalls& calls = calls_[job_.trace_of[rank]];
      std::uint32_t order = 0;
      for (const TraceMessage& send : calls.sends) {
        if (!is_rank(rank, send, "comm_dst")) continue;
        sends_.push_back({.from = rank,
                          .to = static_cast<std::uint32_t>(send.peer),
                          .tag = send.tag,
                          .order = order++,
                          .node = send.node,
                          .size = send.size,
                          .dimension = dimension_of(rank, send)});
      }
      order = 0;
      for (const TraceMessage& receive : calls.receives) {
        if (!is_rank(rank, receive, "comm_src")) continue;
        receives_.push_back({.from = static_cast<std::uint32_t>(receive.peer),
                             .to = rank,
                             .tag = receive.tag,
                             .order = order++,
                             .node = receive.node,
                             .size = receive.size,
                             .dimension = dimension_of(rank, receive)});
      }
    }
    const auto by_key = [](const MessageEnd& a, const MessageEnd& b) {
      return std::pair(key_of(a), a.order) < std::pair(key_of(b), b.order);
    };
    std::ranges::sort(sends_, by_key);
    std::ranges::sort(receives_, by_key);
  }

  void pair_up() {
    std::size_t r = 0;
    for (std::size_t s = 0; s < sends_.size() || r < receives_.size();) {
      const bool send_first = r == receives_.size() || (s < sends_.size() && key_of(sends_[s]) < key_of(receives_[r]));
      if (send_first) {
        note_unmatched(sends_[s++], "send", unmatched_sends_);
      } else if (s == sends_.size() || key_of(receives_[r]) < key_of(sends_[s])) {
        note_unmatched(receives_[r++], "receive", unmatched_receives_);
      } else {
        check_size(sends_[s], receives_[r]);
        pairs_.push_back({.sent = &sends_[s++], .received = &receives_[r++]});
      }
    }
  }

  void note_unmatched(const MessageEnd& end, std::string_view what, std::uint64_t& count) {
    constexpr std::size_t kNamed = 5;
    ++count;
    if (unmatched_.size() < kNamed) {
      unmatched_.push_back(fmt::format("{} from rank {} to rank {} with tag {}", what, end.from, end.to, end.tag));
    }
  }

  void check_size(const MessageEnd& sent, const MessageEnd& received) {
    if (sent.size == received.size) return;
    error(fmt::format("rank {} sends {} bytes to rank {} with tag {}, which expects {} bytes", sent.from,
                      sent.size.count(), sent.to, sent.tag, received.size.count()));
  }

  // Of one pair of ranks at a time: in the order of the sends, each goes to the first queue whose last receive is
  // earlier.
  void assign_queues() {
    std::ranges::sort(pairs_, [](const MatchedPair& a, const MatchedPair& b) {
      return std::tuple(a.sent->from, a.sent->to, a.sent->order) < std::tuple(b.sent->from, b.sent->to, b.sent->order);
    });
    LastReceives among_all;
    std::map<std::uint32_t, LastReceives> in_group;  // by dimension
    for (std::size_t i = 0; i < pairs_.size(); ++i) {
      const auto& [sent, received] = pairs_[i];
      const bool same = i > 0 && pairs_[i - 1].sent->from == sent->from && pairs_[i - 1].sent->to == sent->to;
      if (!same) {
        among_all.clear();
        in_group.clear();
      }
      MessageQueue queue{.in_group = sent->dimension && sent->dimension == received->dimension};
      if (queue.in_group) queue = queue_in(in_group[*sent->dimension], *received);
      if (!queue.in_group) {
        queue = {.in_group = false, .number = take(among_all, received->order)};
        queues_.count = std::max(queues_.count, queue.number + 1);
      }
      const bool at_first = queue.number == 0 && (queue.in_group || (!sent->dimension && !received->dimension));
      if (at_first) continue;
      queues_.queue_of[{sent->from, sent->node}] = queue;
      queues_.queue_of[{received->to, received->node}] = queue;
    }
  }

  using LastReceives = std::vector<std::uint32_t>;  // by queue: order of its last receive

  // The first queue that a receive of this order can join. Queues' last receives fall from queue to queue: it is found
  // by bisection.
  static std::uint32_t first_for(const LastReceives& last, std::uint32_t order) {
    return static_cast<std::uint32_t>(
        std::ranges::partition_point(last, [&](std::uint32_t other) { return other > order; }) - last.begin());
  }
  static std::uint32_t take(LastReceives& last, std::uint32_t order) {
    const std::uint32_t number = first_for(last, order);
    number == last.size() ? last.push_back(order) : void(last[number] = order);
    return number;
  }
  static MessageQueue queue_in(LastReceives& group, const MessageEnd& received) {
    if (first_for(group, received.order) >= kChannels) return {.in_group = false};
    return {.in_group = true, .number = take(group, received.order)};
  }

  const ChakraJob& job_;
  const ReplayGroups& groups_;
  const std::vector<TraceCalls>& calls_;
  std::vector<MessageEnd> sends_;
  std::vector<MessageEnd> receives_;
  std::vector<MatchedPair> pairs_;
  std::vector<std::string> unmatched_;
  std::uint64_t unmatched_sends_ = 0;
  std::uint64_t unmatched_receives_ = 0;
  MessageQueues queues_;
  Diagnostics problems_;
};

}  // namespace

Result<MessageQueues> match_messages(const ChakraJob& job, const ReplayGroups& groups,
                                     const std::vector<TraceCalls>& calls) {
  return Matching(job, groups, calls).match();
}

}  // namespace ringwright::traces
