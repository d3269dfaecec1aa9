#include "traces/cluster_logs/job_log.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringwright::traces::job_log_test {
namespace {

using testing::HasSubstr;

JobLog read(const std::string& text, JobLogForm form) {
  auto log = parse_job_log("log", text, form);
  EXPECT_TRUE(log) << (log ? "" : render(log.error()));
  return log ? std::move(*log) : JobLog();
}

std::string mistake(const std::string& text, JobLogForm form) {
  const auto log = parse_job_log("log", text, form);
  return log ? "none" : render(log.error());
}

// Two attempts of ten minutes and of an hour, on one GPU and then on three.
TEST(PhillyLog, AJobHasAllItsAttempts) {
  const JobLog log = read(
      R"([{"status": "Pass", "vc": "6214e9", "jobid": "application_1", "attempts": [
          {"start_time": "2017-10-07 00:10:00", "end_time": "2017-10-07 00:20:00",
           "detail": [{"ip": "m1", "gpus": ["gpu0"]}]},
          {"start_time": "2017-10-07 01:00:00", "end_time": "2017-10-07 02:00:00",
           "detail": [{"ip": "m1", "gpus": ["gpu0", "gpu1"]}, {"ip": "m2", "gpus": ["gpu7"]}]}],
        "submitted_time": "2017-10-07 00:00:00", "user": "ce2f"},
       {"status": "Killed", "vc": "6214e9", "jobid": "application_2", "attempts": [], "submitted_time":
        "2017-10-07 00:00:01", "user": "ce2f"}])",
      JobLogForm::kPhilly);
  ASSERT_EQ(log.jobs.size(), 1U);
  EXPECT_EQ(log.without_gpus, 1U);
  EXPECT_DOUBLE_EQ(log.jobs[0].gpus, 3.0);
  EXPECT_DOUBLE_EQ(log.jobs[0].run, 4'200.0);
  EXPECT_EQ(log.jobs[0].type, "6214e9");
}

TEST(PhillyLog, AnAttemptWithoutAnEndAddsNoTime) {
  const JobLog log = read(
      R"([{"jobid": "a", "submitted_time": "2017-10-07 00:00:00", "attempts": [
          {"start_time": "2017-10-07 00:00:00", "end_time": null, "detail": [{"ip": "m", "gpus": ["gpu0"]}]},
          {"start_time": "2017-10-07 00:00:00", "end_time": "2017-10-07 00:00:05", "detail": []}]}])",
      JobLogForm::kPhilly);
  ASSERT_EQ(log.jobs.size(), 1U);
  EXPECT_DOUBLE_EQ(log.jobs[0].run, 5.0);
}

TEST(PhillyLog, MistakesNameTheirByte) {
  EXPECT_THAT(mistake("{}", JobLogForm::kPhilly), HasSubstr("no JSON list"));
  EXPECT_THAT(mistake(R"([{"attempts": 3}])", JobLogForm::kPhilly), HasSubstr("at byte 1"));
  EXPECT_THAT(mistake(R"([{"jobid": "a")", JobLogForm::kPhilly), HasSubstr("E490"));
}

// Workers on half a GPU each and a parameter server without one are one job.
TEST(PaiLog, AJobIsTheSumOfItsTasks) {
  const JobLog log = read(
      "j1,worker,4,Terminated,100.0,1100.0,600,30,50,MISC\n"
      "j1,ps,2,Terminated,90.0,1200.0,600,30,,\n"
      "j2,tensorflow,1,Terminated,50,60,600,30,25.0,T4\n"
      "j3,tensorflow,1,Running,50,,600,30,100,T4\n",
      JobLogForm::kPai);
  ASSERT_EQ(log.jobs.size(), 2U);
  EXPECT_EQ(log.jobs[0].name, "j2");
  EXPECT_DOUBLE_EQ(log.jobs[0].gpus, 0.25);
  EXPECT_DOUBLE_EQ(log.jobs[1].gpus, 2.0);
  EXPECT_DOUBLE_EQ(log.jobs[1].run, 1'110.0);
  EXPECT_EQ(log.without_times, 1U);
}

TEST(AcmeLog, ColumnsAreFoundByName) {
  const JobLog log = read(
      "job_id,user,node_num,gpu_num,cpu_num,type,state,submit_time,start_time,end_time,duration,queue,gpu_time\n"
      "d2,u,8,64.0,1,Pretrain,COMPLETED,2023-05-17 19:00:58+08:00,,,3600.0,0,0\n"
      "d1,u,1,8,1,Evaluation,FAILED,2023-05-17 11:00:57+00:00,,,18.0,0,0\n"
      "d3,u,1,0,1,Other,COMPLETED,2023-05-17 11:00:57+00:00,,,18.0,0,0\n",
      JobLogForm::kAcme);
  ASSERT_EQ(log.jobs.size(), 2U);
  EXPECT_EQ(log.without_gpus, 1U);
  EXPECT_EQ(log.jobs[0].name, "d1");
  EXPECT_DOUBLE_EQ(log.jobs[1].submit - log.jobs[0].submit, 1.0);  // 19:00:58 in the zone of +08:00
  EXPECT_DOUBLE_EQ(log.jobs[1].gpus, 64.0);
  EXPECT_EQ(log.jobs[1].type, "Pretrain");
}

TEST(AcmeLog, MistakesNameTheirLine) {
  const std::string head = "job_id,gpu_num,submit_time,duration\n";
  EXPECT_THAT(mistake("job_id,gpu_num\n", JobLogForm::kAcme), HasSubstr("names no column 'submit_time'"));
  EXPECT_THAT(mistake("duration," + head + "5,a,1,2023-05-17 11:00:57,7\n", JobLogForm::kAcme),
              HasSubstr("names the column 'duration' twice"));
  EXPECT_THAT(mistake(head + "a,1,yesterday,5\n", JobLogForm::kAcme), HasSubstr("log:2"));
  EXPECT_THAT(mistake(head + "a,many,2023-05-17 11:00:57,5\n", JobLogForm::kAcme), HasSubstr("no number of GPUs"));
  EXPECT_THAT(mistake(head, JobLogForm::kAcme), HasSubstr("holds no job"));
}

TEST(OwnLog, HasThreeColumns) {
  const JobLog log = read("submit_s,gpus,run_s,name\n10,8,100,\"a, b\"\n5,0.5,10,c\n", JobLogForm::kCsv);
  ASSERT_EQ(log.jobs.size(), 2U);
  EXPECT_EQ(log.jobs[1].name, "a, b");
  EXPECT_DOUBLE_EQ(log.jobs[0].gpus, 0.5);
  EXPECT_THAT(mistake("submit_s,gpus,run_s\nx,1,1\n", JobLogForm::kCsv),
              HasSubstr("log:2:0: error[E490]: submit_s is 'x' and run_s '1', and both are seconds up to 1e+11"));
  EXPECT_THAT(mistake("submit_s,gpus,run_s\n0,1,1e300\n", JobLogForm::kCsv), HasSubstr("seconds up to 1e+11"));
  // In milliseconds since 1970.
  EXPECT_THAT(mistake("submit_s,gpus,run_s\n1.7e12,1,5\n", JobLogForm::kCsv), HasSubstr("seconds up to 1e+11"));
  EXPECT_THAT(mistake("", JobLogForm::kCsv), HasSubstr("the log is empty"));
  // A comma without quotes shifts what follows it.
  EXPECT_THAT(mistake("submit_s,gpus,run_s,name,type\n0,1,5,train, large,bert\n", JobLogForm::kCsv),
              HasSubstr("log:2:0: error[E490]: the row has 6 fields, and the head line names 5 columns"));
  EXPECT_EQ(read("submit_s,gpus,run_s\n0,1,5,\n", JobLogForm::kCsv).jobs.size(), 1U);
  EXPECT_THAT(mistake("submit_s,gpus,run_s,type,type\n0,1,5,a,b\n", JobLogForm::kCsv),
              HasSubstr("names the column 'type' twice"));
  EXPECT_THAT(mistake("submit_s,gpus,run_s\n1,inf,1\n", JobLogForm::kCsv), HasSubstr("no number of GPUs"));
}

}  // namespace
}  // namespace ringwright::traces::job_log_test
