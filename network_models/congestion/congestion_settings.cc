#include "network_models/congestion/congestion_settings.h"

#include <array>
#include <string>

namespace ringwright::network_models {
namespace {

using namespace ringwright::literals;

constexpr std::array kAlgorithms = {
    Option{.name = "dcqcn", .doc = "senders cut their rate when marked packets are reported (CNPs), and recover"},
    Option{.name = "none", .doc = "senders keep their line rate; only pauses (PFC) hold them back"}};

std::optional<Bytes> given_bytes(ConfigMap& map, std::string_view name, std::string_view doc) {
  if (!map.documenting() && !map.has(name)) return std::nullopt;
  const Bytes value = map.bytes({.name = name, .doc = doc, .min = Bytes(1), .optional = true});
  return map.documenting() ? std::nullopt : std::optional(value);
}

void read_marks(ConfigMap& map, SwitchBuffers& buffers) {
  buffers.kmin = given_bytes(map, "kmin", "queue above which packets are marked; default: 5 KB at 40 Gbit/s, in "
                                          "proportion to the port's speed");
  buffers.kmax = given_bytes(map, "kmax", "queue from which all packets are marked; default: 200 KB at 40 Gbit/s");
  buffers.pmax = map.percent(
      {.name = "pmax", .doc = "share that is marked just below kmax", .fallback = 0.01, .min = 1e-6, .max = 1.0});
  if (buffers.kmin.has_value() != buffers.kmax.has_value()) {
    map.error(buffers.kmin ? "kmin" : "kmax", "E128", "kmin and kmax are given together or not at all",
              "ecn: {kmin: 100kB, kmax: 400kB}");
  } else if (buffers.kmin && *buffers.kmin >= *buffers.kmax) {
    map.error("kmin", "E128", "kmin is " + to_string(*buffers.kmin) + " and must be below kmax = " +
                                  to_string(*buffers.kmax));
  }
}

void read_pauses(ConfigMap& map, SwitchBuffers& buffers) {
  buffers.pauses = map.boolean(
      {.name = "enabled", .doc = "whether a full buffer pauses the port that fills it", .fallback = true});
  buffers.xoff = given_bytes(map, "xoff", "bytes of one ingress port in a switch at which that port is paused; "
                                          "default: 200 KB at 40 Gbit/s, in proportion to its speed");
  buffers.xon = given_bytes(map, "xon", "bytes at which it goes on; default: half of xoff");
  if (buffers.xon && (!buffers.xoff || *buffers.xon > *buffers.xoff)) {
    map.error("xon", "E128", "xon is " + to_string(*buffers.xon) + " and needs an xoff that is not below it");
  }
}

Duration timer(ConfigMap& map, std::string_view name, std::string_view doc, Duration fallback) {
  return map.duration({.name = name, .doc = doc, .fallback = fallback, .min = 1_us, .max = 1_s});
}

void ignore_unused(ConfigMap& map, CongestionSettings& settings) {
  if (map.documenting()) return;
  if (!settings.rates.reacts) {
    for (const char* key : {"ecn", "gain", "cnp_interval", "alpha_timer", "rate_timer", "byte_counter", "fast_recovery",
                            "additive_increase", "packet"}) {
      map.ignore(key, "with 'algorithm: none' senders keep their line rate");
    }
  }
  if (settings.buffers.pauses || !map.has("pfc")) return;
  ConfigMap pfc = map.map("pfc", "");
  for (const char* key : {"xoff", "xon"}) pfc.ignore(key, "with 'enabled: false' no port is paused");
}

}  // namespace

CongestionSettings read_congestion_control(ConfigMap& simulate) {
  ConfigMap map = simulate.map("congestion_control", "how switches mark and pause and NICs react, with network: dcqcn");
  CongestionSettings settings;
  RateControl& rates = settings.rates;
  const std::string algorithm = map.choice(
      {.name = "algorithm", .doc = "what senders do about marks", .fallback = std::string("dcqcn")}, kAlgorithms);
  rates.reacts = algorithm == "dcqcn";
  ConfigMap ecn = map.map("ecn", "marks of a switch port, by its queue");
  read_marks(ecn, settings.buffers);
  ConfigMap pfc = map.map("pfc", "pauses of a full buffer (priority flow control)");
  read_pauses(pfc, settings.buffers);
  rates.gain = map.number(
      {.name = "gain", .doc = "g, weight of a new mark in alpha", .fallback = 1.0 / 256, .min = 1e-6, .max = 1.0});
  rates.cnp_interval = timer(map, "cnp_interval", "least time between two CNPs of a flow", rates.cnp_interval);
  rates.alpha_timer = timer(map, "alpha_timer", "time after which alpha falls without a CNP", rates.alpha_timer);
  rates.rate_timer = timer(map, "rate_timer", "time after which the rate rises", rates.rate_timer);
  rates.byte_counter = given_bytes(map, "byte_counter", "bytes after which the rate rises; default: 10 MB at 40 "
                                                        "Gbit/s, in proportion to the line rate");
  rates.fast_recovery = static_cast<double>(map.integer({.name = "fast_recovery",
                                                         .doc = "rises to the old rate before it is exceeded",
                                                         .fallback = 5,
                                                         .min = 1,
                                                         .max = 100}));
  if (map.documenting() || map.has("additive_increase")) {
    const Bandwidth additive = map.bandwidth(
        {.name = "additive_increase",
         .doc = "added to the target at each later rise; default: a thousandth of the line rate",
         .min = Bandwidth(1.0),
         .optional = true});
    if (!map.documenting()) rates.additive = additive;
  }
  rates.packet = map.bytes({.name = "packet", .doc = "size of a packet, each of which may be marked",
                            .fallback = Bytes(1024), .min = Bytes(64), .max = Bytes(65536)});
  ignore_unused(map, settings);
  settings.step = map.duration({.name = "step", .doc = "time step while queues or rates change",
                                .fallback = 1_us, .min = 10_ns, .max = 20_us});
  return settings;
}

}  // namespace ringwright::network_models
