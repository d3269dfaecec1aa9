// Goodput as text: where the time went, what each class of faults cost, the interval of checkpoints, and the policies.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/report/text_table.h"
#include "planning/operation/goodput.h"

namespace ringwright::planning {
namespace {

// Above this share of the wall time, recoveries disturb each other, and closed forms do not hold.
constexpr double kClosedFormBound = 0.25;

std::string percent_text(double share) {
  return fmt::format("{:.2f} %", share * 100.0);
}

std::string amount_text(double count) {
  return count >= 1000.0 ? with_commas(std::llround(count)) : fmt::format("{:.4g}", count);
}

// One life has no interval.
std::string mean_text(const Summary& summary, int lives) {
  if (lives == 1) return percent_text(summary.mean);
  return fmt::format("{} +- {:.2f}", percent_text(summary.mean), 196.0 * summary.error);
}

void append_lines(std::string& text, const TextTable& table) {
  for (const std::string& line : table.lines()) text += "  " + line + "\n";
}

std::string head_text(const GoodputResult& result) {
  const Operation& operation = result.operation;
  const JobShape& job = operation.job;
  std::string text = fmt::format("{}: {} GPU{} on {} host{}, {} replica{}, step {}{}\n", result.name,
                                 with_commas(job.gpus), job.gpus == 1 ? "" : "s", with_commas(job.hosts()),
                                 job.hosts() == 1 ? "" : "s", with_commas(job.replicas), job.replicas == 1 ? "" : "s",
                                 to_string(job.step), job.is_simulated ? " (simulated)" : "");
  text += operation.length.work ? fmt::format("  {} of work", to_string(*operation.length.work))
                                : fmt::format("  {} by the calendar", to_string(*operation.length.duration));
  text += fmt::format(", {} repetition{}, seed {}\n", operation.repetitions, operation.repetitions == 1 ? "" : "s",
                      operation.seed);
  const double rate = operation.faults_per_hour();
  if (rate > 0.0) {
    text += fmt::format("  a fault every {} expected; standby hosts: {}\n", to_string(job_seconds(3600.0 / rate)),
                        operation.spares.unlimited ? "unlimited" : with_commas(operation.spares.standby));
  }
  for (const CheckpointTier& tier : operation.tiers) {
    text += fmt::format("  checkpoint '{}' every {}: stalls {}, written after {}, loads in {}{}\n", tier.name,
                        to_string(job_seconds(tier.every)), to_string(tier.stall), to_string(tier.write),
                        to_string(tier.load),
                        tier.held ? ", holds " + to_string(*tier.held) + " of each host's memory" : "");
  }
  return text;
}

std::string result_text(const PolicyOutcome& outcome, const std::string& processed) {
  std::string text = fmt::format("\n{}: ETTR (productive share of the wall time) {}, one repetition\n", outcome.policy,
                                 percent_text(outcome.ettr.mean));
  if (outcome.lives > 1) {
    text = fmt::format(
        "\n{}: ETTR (productive share of the wall time; mean, 95 %) {:.2f} +- {:.2f} %, median {} ({} .. {})\n",
        outcome.policy, outcome.ettr.mean * 100.0, 196.0 * outcome.ettr.error, percent_text(outcome.ettr.median),
        percent_text(outcome.ettr.low), percent_text(outcome.ettr.high));
  }
  if (outcome.faults.mean > 0.0) {
    const std::string faults = amount_text(outcome.faults.mean);
    text += fmt::format("  {} fault{} per repetition, one every {} of wall time; {} of them during a recovery\n",
                        faults, faults == "1" ? "" : "s", to_string(job_seconds(outcome.between_faults_hours * 3600.0)),
                        amount_text(outcome.in_recovery));
  } else {
    text += "  no faults\n";
  }
  if (outcome.tokens_per_second) {
    text += fmt::format("  {} {}/s\n", amount_text(outcome.tokens_per_second->mean), processed);
  }
  if (outcome.usd) {
    text += fmt::format("  ${} per repetition", with_commas(std::llround(std::min(*outcome.usd, 1e18))));
    if (outcome.usd_per_productive_gpu_hour) {
      text += fmt::format(", ${:.4g} per productive GPU-hour", *outcome.usd_per_productive_gpu_hour);
    }
    text += "\n";
  }
  if (outcome.unfinished > 0) {
    text += fmt::format("  {} of {} repetitions did not end within 50 times their work\n", outcome.unfinished,
                        outcome.lives);
  }
  text += fmt::format("  hosts ran out in {} of the repetitions\n", percent_text(outcome.out_of_spares));
  if (outcome.from_start > 0.0) {
    text += fmt::format("  {} recoveries per repetition found no checkpoint and restarted from the first step\n",
                        amount_text(outcome.from_start));
  }
  if (outcome.undetected > 0.0) {
    text += fmt::format("  {} corruptions per repetition are never detected\n", amount_text(outcome.undetected));
  }
  return text;
}

std::string accounts_text(const PolicyOutcome& outcome) {
  TextTable table({Align::kLeft, Align::kRight, Align::kRight, Align::kRight});
  table.add_row({"wall time", "mean", "share", "lost GPU-hours"});
  const double wall = outcome.wall_hours.mean * 3600.0;
  for (std::size_t account = 0; account < kAccounts; ++account) {
    const double seconds = outcome.seconds[account];
    table.add_row({std::string(kAccountNames[account]), to_string(job_seconds(seconds)),
                   percent_text(wall > 0.0 ? seconds / wall : 0.0),
                   account == 0 ? "" : amount_text(outcome.lost_gpu_hours[account])});
  }
  table.add_row({"all", to_string(job_seconds(wall)), "100.00 %", ""});
  std::string text = "\n";
  append_lines(text, table);
  return text;
}

std::string classes_text(const GoodputResult& result) {
  std::vector<std::size_t> order(result.operation.components.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  const PolicyOutcome& outcome = result.outcome;
  std::ranges::stable_sort(order, std::greater<>(), [&](std::size_t i) { return outcome.class_gpu_hours[i]; });
  TextTable table({Align::kLeft, Align::kRight, Align::kRight});
  table.add_row({"fault", "per repetition", "lost GPU-hours"});
  for (const std::size_t i : order) {
    table.add_row({result.operation.components[i].name, amount_text(outcome.class_faults[i]),
                   amount_text(outcome.class_gpu_hours[i])});
  }
  std::string text = "\n";
  append_lines(text, table);
  return text;
}

std::string intervals_text(const GoodputResult& result) {
  std::vector<const IntervalOutcome*> rows;
  for (const IntervalOutcome& one : result.intervals) rows.push_back(&one);
  std::ranges::stable_sort(rows, {}, &IntervalOutcome::seconds);
  const auto best = std::ranges::max_element(rows, {}, [](const IntervalOutcome* one) { return one->ettr.mean; });
  TextTable table({Align::kRight, Align::kLeft, Align::kRight, Align::kRight, Align::kLeft});
  table.add_row({"every", "", "ETTR", "closed form", ""});
  for (const IntervalOutcome* const one : rows) {
    table.add_row({to_string(job_seconds(one->seconds)), one->rule == "searched" ? "" : one->rule,
                   mean_text(one->ettr, result.operation.repetitions),
                   one->closed_form > 0.0 ? percent_text(one->closed_form) : "-", one == *best ? "best" : ""});
  }
  std::string text =
      fmt::format("\nInterval of checkpoint '{}', policy {}, the same faults:\n", result.tier, result.outcome.policy);
  append_lines(text, table);
  text +=
      fmt::format("  closed form: memoryless failures every {}, recovery {}, this checkpoint alone",
                  to_string(job_seconds(result.between_recoveries())), to_string(job_seconds(result.recovery_seconds)));
  if (1.0 - result.outcome.ettr.mean > kClosedFormBound) {
    text += fmt::format("; it does not hold here: more than {:.0f} % of the time is lost", kClosedFormBound * 100.0);
  }
  return text + "\n";
}

std::string policies_text(const GoodputResult& result) {
  TextTable table({Align::kLeft, Align::kRight, Align::kRight, Align::kRight, Align::kRight, Align::kLeft});
  table.add_row({"policy", "ETTR", "change", "productive GPU-hours", "hosts ran out", ""});
  const double base = result.outcome.ettr.mean;
  const double hours = static_cast<double>(result.operation.job.gpus) / 3600.0;
  const auto add = [&](const PolicyOutcome& outcome) {
    if (!outcome.refusal.empty()) {
      table.add_row({outcome.policy, "-", "-", "-", "-", outcome.refusal});
      return;
    }
    table.add_row({outcome.policy, mean_text(outcome.ettr, outcome.lives),
                   fmt::format("{:+.2f} points", (outcome.ettr.mean - base) * 100.0),
                   amount_text(outcome.seconds[0] * hours), percent_text(outcome.out_of_spares), ""});
  };
  add(result.outcome);
  for (const PolicyOutcome& outcome : result.others) add(outcome);
  std::string text = "\nRecovery policies, the same faults:\n";
  append_lines(text, table);
  return text;
}

}  // namespace

std::string render_goodput_text(const GoodputResult& result) {
  std::string text =
      head_text(result) + result_text(result.outcome, result.operation.job.processed) + accounts_text(result.outcome);
  if (!result.operation.components.empty()) text += classes_text(result);
  if (!result.intervals.empty()) text += intervals_text(result);
  if (!result.others.empty()) text += policies_text(result);
  return text;
}

}  // namespace ringwright::planning
