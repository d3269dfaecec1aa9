// Our counts and rules compared with published figures.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/config/config_document.h"
#include "tests/workload/job_text.h"
#include "tests/workload/table.h"
#include "workload/builtin.h"

namespace ringwright::workload::published_test {
namespace {

TEST(Published, UtilisationFollowsFromOurFlopsAndTheMeasuredTime) {
  const std::vector<TableRow> rows = read_table("korthikanti_steps.csv");
  ASSERT_EQ(rows.size(), 4U);
  for (const TableRow& row : rows) {
    const JobText job(
        fmt::format("model: {{preset: {}}}\n"
                    "training: {{global_batch: {}, micro_batch: {}, precision: fp16, attention: unfused, recompute: "
                    "selective}}\n"
                    "parallel: {{tp: 8, pp: {}, virtual_stages: {}, schedule: {}, sequence_parallel: true}}\n",
                    row.at("model"), row.at("global_batch"), row.at("micro_batch"), row.at("pp"),
                    row.at("virtual_stages"), whole(row, "virtual_stages") > 1 ? "interleaved-1f1b" : "1f1b"),
        whole(row, "gpus"));
    ASSERT_THAT(job.problems(), testing::IsEmpty());
    const Flops flops = model_flops(job.shape, job.training.global_batch, AttentionCount::kFull);
    const double mfu = 100.0 * flops.count() / (number(row, "gpus") * 312e12 * number(row, "seconds"));
    // The table gives times with three digits and utilisation to a tenth.
    EXPECT_NEAR(mfu, number(row, "mfu_percent"), 0.35) << row.at("model");
  }
}

// With the default efficiency, which was derived from the table that contains these rows (a quarter of it).
TEST(Published, RooflineMatchesMeasuredGemmsOfAnA100) {
  auto document = ConfigDocument::load_text("gpu.yaml",
                                            "gpu: {name: A100-PCIE, peak: {bf16: 312TFLOPS}, memory: 80GiB,"
                                            " memory_bandwidth: 1935GB/s, sms: 108, kernel_launch: 2us}\ncompute: {}\n")
                      .value();
  ConfigMap gpu_map = document.root().map("gpu", "the GPU");
  ConfigMap compute_map = document.root().map("compute", "the model");
  const auto model = read_compute_model(compute_map, read_gpu_spec(gpu_map));
  std::vector<double> errors;
  for (const TableRow& row : read_table("a100_products.csv")) {
    const std::int64_t m = whole(row, "m");
    const std::int64_t n = whole(row, "n");
    const std::int64_t k = whole(row, "k");
    const std::int64_t batch = whole(row, "batch");
    const double flops = 2.0 * static_cast<double>(m * n) * static_cast<double>(k * batch);
    const Kernel product{.family = KernelFamily::kGemm,
                         .name = "product",
                         .m = m,
                         .n = n,
                         .k = k,
                         .batch = batch,
                         .flops = Flops(flops),
                         .bytes = Bytes((2 * (m * k + k * n) + whole(row, "out_bytes") * m * n) * batch)};
    const double ours = flops / to_seconds(model->duration(product)) / 1e12;
    errors.push_back(std::abs(ours / number(row, "tflops") - 1.0));
  }
  ASSERT_GT(errors.size(), 40U);
  std::ranges::sort(errors);
  EXPECT_LT(errors[errors.size() / 2], 0.05);
  EXPECT_LT(errors[errors.size() * 9 / 10], 0.16);
}

}  // namespace
}  // namespace ringwright::workload::published_test
