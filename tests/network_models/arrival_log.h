// A listener for tests that records when each token arrived, and helpers to start transfers at given times.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "core/base/check.h"
#include "core/engine/engine.h"
#include "core/ports/network_model.h"
#include "network_models/builtin.h"

namespace ringwright::network_models {

struct Arrived {
  std::uint64_t token = 0;
  TimePoint when;

  friend bool operator==(const Arrived&, const Arrived&) = default;
};

class ArrivalLog final : public TransferListener {
 public:
  explicit ArrivalLog(const Engine& engine) : engine_(engine) {}

  void on_arrived(std::uint64_t token) override { arrivals.push_back({.token = token, .when = engine_.now()}); }
  [[nodiscard]] TimePoint time_of(std::uint64_t token) const {
    for (const Arrived& arrival : arrivals) {
      if (arrival.token == token) return arrival.when;
    }
    CHECK(false, "this token has not arrived");
    return {};
  }

  std::vector<Arrived> arrivals;

 private:
  const Engine& engine_;
};

// A model on a router, an engine and a log, ready to send.
class ModelBench {
 public:
  ModelBench(std::string_view model, const Router& router, ModelOptions options = {},
             std::span<const LinkKind> links = {})
      : log(engine) {
    for (const ModelEntry& entry : models()) {
      if (entry.name == model) {
        network = entry.make({.engine = engine, .router = router, .options = options, .links = links});
      }
    }
    CHECK(network != nullptr, "no such network model");
  }

  // The transfer takes row `from` of a TableRouter, and that number as its token.
  void send(std::uint32_t from, Bytes size) {
    network->start({.from = RankId(from), .to = RankId(), .size = size, .token = from}, log);
  }
  void send_at(TimePoint when, std::uint32_t from, Bytes size) {
    engine.at(when, [this, from, size] { send(from, size); });
  }
  [[nodiscard]] std::uint64_t counter(std::string_view name) const {
    for (const NetworkModel::Counter& candidate : network->counters()) {
      if (candidate.name == name) return candidate.value;
    }
    CHECK(false, "no such counter");
    return 0;
  }

  Engine engine;
  ArrivalLog log;
  std::unique_ptr<NetworkModel> network;
};

}  // namespace ringwright::network_models
