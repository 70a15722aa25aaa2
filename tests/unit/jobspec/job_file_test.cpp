#include "jobspec/job_file.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

namespace berth {
namespace {

std::string read_file(const std::string& path) {
  std::ifstream in(std::string(BERTH_SOURCE_DIR) + "/" + path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  EXPECT_TRUE(in) << path;
  return text.str();
}

Result<JobSpec> one(const std::string& yaml) {
  auto jobs = read_job_yaml(yaml, "j.yaml", "/home/a");
  if (!jobs) return fail(std::move(jobs).error());
  EXPECT_EQ(jobs->size(), 1U);
  return std::move(jobs->front());
}

constexpr const char* kEveryKey = R"(
name: resnet
command: [python3, train.py, --lr, 1e-3, --epochs, 010]
directory: src
env: {OMP_NUM_THREADS: 4, DEBUG: no, EMPTY: ""}
replicas: 2
partitions: 3
parameter_server: true
elastic: true
graph: [[0, 1], [0, 2]]
gpus: 2
gpu_memory: 16GiB
gpu_type: [V100, A100]
cpus: 0.5
memory: 1.5GiB
model: resnet50
virtual_cluster: vision
priority: -3
urgency: 10
deadline: 2026-12-01T08:00:00+01:00
time_limit: 1h30min
iterations: 1000
accuracy: 0.92
stop: opt-stop
stop_at_worst: accuracy
interference_tolerance: 0.15
checkpoint: {signal: SIGUSR2, grace: 2min, term_grace: 0s}
restarts: 3
tensorboard: runs
log_limit: 1MiB
)";

TEST(JobFile, EveryKey) {
  const auto job = one(kEveryKey);
  ASSERT_TRUE(job) << job.error().text();
  EXPECT_EQ(job->name, "resnet");
  EXPECT_EQ(job->command,
            (std::vector<std::string>{"python3", "train.py", "--lr", "1e-3", "--epochs", "010"}));
  EXPECT_EQ(job->directory, "/home/a/src");
  const std::vector<std::pair<std::string, std::string>> environment = {
      {"OMP_NUM_THREADS", "4"}, {"DEBUG", "no"}, {"EMPTY", ""}};
  EXPECT_EQ(job->environment, environment);
  EXPECT_EQ(job->tasks(), 7U);
  EXPECT_TRUE(job->parameter_server && job->elastic);
  EXPECT_EQ(job->graph.size(), 2U);
  EXPECT_EQ(job->gpu_milli, 2000U);
  EXPECT_EQ(job->gpu_memory_mib, 16384U);
  EXPECT_EQ(job->gpu_types, (std::vector<std::string>{"V100", "A100"}));
  EXPECT_EQ(job->cpu_milli, 500U);
  EXPECT_EQ(job->memory_mib, 1536U);
  EXPECT_EQ(job->priority, -3);
  EXPECT_EQ(job->urgency, 10);
  EXPECT_EQ(job->deadline_unix_us, 1'796'108'400 * kUsPerS);
  EXPECT_EQ(job->time_limit_us, 90 * kUsPerMin);
  EXPECT_EQ(job->max_iterations, 1000);
  EXPECT_EQ(job->required_accuracy_ppm, 920'000);
  EXPECT_EQ(job->stop, StopOption::kOptStop);
  EXPECT_EQ(job->stop_at_worst, StopOption::kAccuracy);
  EXPECT_EQ(job->interference_tolerance_ppm, 150'000);
  EXPECT_EQ(job->checkpoint.signal, "USR2");
  EXPECT_EQ(job->checkpoint.grace_us, 120 * kUsPerS);
  EXPECT_EQ(job->checkpoint.term_grace_us, 0);
  EXPECT_EQ(job->restarts, 3U);
  EXPECT_EQ(job->tensorboard, "runs");
  EXPECT_EQ(job->log_limit_bytes, 1 << 20);
}

TEST(JobFile, WhatIsAbsentHasItsDefault) {
  const auto job = one("command: [/bin/true]\n");
  ASSERT_TRUE(job) << job.error().text();
  JobSpec expected;
  expected.name = "true";
  expected.command = {"/bin/true"};
  expected.directory = "/home/a";
  EXPECT_TRUE(*job == expected) << job_json(*job);
}

TEST(JobFile, Directories) {
  EXPECT_EQ(one("{command: [a], directory: /x}")->directory, "/x");
  EXPECT_EQ(one("{command: [a], directory: x/y}")->directory, "/home/a/x/y");
  EXPECT_EQ(one("{command: [a], directory: .}")->directory, "/home/a");
  EXPECT_FALSE(one("{command: [a], directory: ''}"));
}

TEST(JobFile, SeveralDocumentsAreSeveralJobs) {
  const auto jobs = read_job_yaml("---\ncommand: [a]\n---\n---\ncommand: [b]\n", "j.yaml", "/");
  ASSERT_TRUE(jobs) << jobs.error().text();
  ASSERT_EQ(jobs->size(), 2U);
  EXPECT_EQ(jobs->back().name, "b");
}

TEST(JobFile, AliasesStandForTheirValues) {
  const auto job = one("env: &e {A: &x b}\nmodel: *x\ncommand: [*x]\n");
  ASSERT_TRUE(job) << job.error().text();
  EXPECT_EQ(job->model, "b");
}

TEST(JobFile, TextsAndNumbersAreToldApart) {
  EXPECT_EQ(one("{command: [a], gpus: 0.125}")->gpu_milli, 125U);
  EXPECT_EQ(one("{command: [a], gpus: 2.0}")->gpu_milli, 2000U);
  EXPECT_EQ(one("{command: [a], deadline: 90min}")->deadline_after_us, 90 * kUsPerMin);
  EXPECT_EQ(one("{command: [a], name: no}")->name, "no");
  EXPECT_EQ(one("{command: [a], gpu_type: V100, gpus: 1}")->gpu_types.size(), 1U);
  EXPECT_EQ(one("{command: [a], stop: accuracy, accuracy: 1}")->stop_at_worst,
            StopOption::kAccuracy);
  const auto job = read_job_json(
      R"({"command": ["a"], "directory": "/", "accuracy": 9.25e-1, "iterations": 1e3})");
  ASSERT_TRUE(job) << job.error().text();
  EXPECT_EQ(job->required_accuracy_ppm, 925'000);
  EXPECT_EQ(job->max_iterations, 1000);
}

struct Bad {
  std::string text;
  const char* message;  // part of it
};

void expect_refused(const std::vector<Bad>& cases) {
  for (const Bad& bad : cases) {
    const auto jobs = read_job_yaml(bad.text, "j.yaml", "/home/a");
    ASSERT_FALSE(jobs) << bad.text;
    EXPECT_NE(jobs.error().text().find(bad.message), std::string::npos) << bad.text << "\n"
                                                                        << jobs.error().text();
    EXPECT_EQ(jobs.error().exit_code(), 2);
  }
}

TEST(JobFile, WrongValuesAreNamedWithTheirLine) {
  const std::string a = "command: [a]\n";
  expect_refused({
      {"", "j.yaml: no job"},
      {"- a\n", "j.yaml:1: not valid: found a list, expected a job"},
      {"name: x\n", "j.yaml:1: command: not valid: found nothing"},
      {"command: python train.py\n",
       "j.yaml:1: command: not valid: found 'python train.py', "
       "expected a list of words"},
      {"command: []\n", "command"},
      {"command: ['']\n", "command[0]"},
      {"command: [a, ~]\n", "j.yaml:1: command[1]: not valid: found nothing"},
      {"command: [a, [b]]\n", "command[1]: not valid: found a list"},
      {"command: [\"a\\x00b\"]\n", "command[0]: not valid: found a byte that is zero"},
      {a + "gpu: 1\n",
       "j.yaml:2: gpu: unknown key 'gpu'; did you mean 'gpus'? (all keys: "
       "docs/job-file.md)"},
      {a + "gpus: 010\n", "j.yaml:2: gpus: not valid: found '010'"},
      {a + "gpus: 1.5\n", "gpus"},
      {a + "gpus: -1\n", "gpus"},
      {a + "gpus: '2'\n", "gpus"},
      {a + "gpus: 0.0005\n", "gpus"},
      {a + "gpus: 0x1\n", "gpus"},
      {a + "gpus: 0.5\nreplicas: 2\n", "j.yaml:2: gpus: not valid: found 0.5 of a GPU for each"},
      {a + "iterations: 1_000\n", "j.yaml:2: iterations: not valid: found '1_000'"},
      {a + "iterations: 1e3\n", "found '1e3', expected a whole number from 1 to"},
      {a + "iterations: 0\n", "iterations"},
      {a + "iterations: 99999999999999999999\n", "iterations"},
      {a + "iterations: 1.5\n", "iterations"},
      {a + "deadline: 12:30:00\n", "j.yaml:2: deadline: not valid: found '12:30:00'"},
      {a + "deadline: 2026-12-01T08:00:00\n", "an instant with its zone"},
      {a + "deadline: 2026-12-01\n", "an instant with its zone"},
      {a + "deadline: 2026-02-30T08:00:00Z\n", "deadline"},
      {a + "deadline: 0s\n", "deadline"},
      {a + "deadline: 1950-12-01T08:00:00Z\n", "an instant from 1971 to 2199"},
      {a + "time_limit: 90\n", "found '90', expected a time with its unit"},
      {a + "time_limit: 5m\n", "90min"},
      {a + "time_limit: 1min1h\n", "time_limit"},
      {a + "time_limit: 200000d\n", "time_limit"},
      {a + "memory: 16\n", "found '16', expected a size with its unit, as in 16GiB"},
      {a + "memory: 16GB\n", "memory"},
      {a + "memory: 16G\n", "memory"},
      {a + "memory: 1KiB\n", "a whole number of MiB"},
      {a + "memory: 99999999999TiB\n", "memory"},
      {a + "memory: 0MiB\n", "memory"},
      {a + "elastic: yes\n", "found 'yes', expected true or false"},
      {a + "elastic: 'true'\n", "true or false"},
      {a + "accuracy: 92\n", "found '92', expected a number from 0 to 1"},
      {a + "accuracy: nan\n", "accuracy"},
      {a + "accuracy: .5\n", "accuracy"},
      {a + "stop: early\n", "iterations, opt-stop, accuracy"},
      {a + "stop: accuracy\n", "j.yaml:2: stop: not valid: found 'accuracy', expected the key"},
      {a + "urgency: 0\n", "a whole number from 1 to 10"},
      {a + "urgency: 11\n", "urgency"},
      {a + "replicas: 5000\n", "replicas"},
      {a + "replicas: 4096\nparameter_server: true\n", "found 4097 tasks in all"},
      {a + "partitions: 2\ngraph: [[0, 2]]\n", "j.yaml:3: graph[0]: not valid: found [0, 2]"},
      {a + "partitions: 2\ngraph: [[0, 1], [1, 0]]\n", "found a cycle"},
      {a + "partitions: 2\ngraph: [[0, 1], [0, 1]]\n", "each edge once"},
      {a + "partitions: 2\ngraph: [0, 1]\n", "a list of pairs"},
      {a + "gpu_type: V100\n", "gpu_type: not valid: found a wish"},
      {a + "gpus: 1\ngpu_type: [a, a]\n", "each once"},
      {a + "gpus: 1\ngpu_type: []\n", "at least one type"},
      {a + "checkpoint: USR1\n", "checkpoint: not valid: found 'USR1', expected a map of signal"},
      {a + "checkpoint: {signal: KILL}\n", "checkpoint.signal"},
      {a + "checkpoint:\n  grace: 30\n", "j.yaml:3: checkpoint.grace"},
      {a + "checkpoint: {wait: 1s}\n", "unknown key 'wait'"},
      {a + "env: [A=b]\n", "a map of names and texts"},
      {a + "env: {A=: b}\n", "without '='"},
      {a + "env:\n  A.B[0]: ~\n", "j.yaml:3: env.A.B[0]: not valid: found nothing"},
      {a + "log_limit: 1B\n", "log_limit"},
      {a + "name: " + std::string(300, 'x') + "\n", "name: not valid: found 300 bytes"},
      {a + "directory: /" + std::string(5000, 'x') + "\n", "directory"},
      {"command: [a, " + std::string(kMaxArgumentBytes + 1, 'x') + "]\n",
       "command[1]: not valid: found 131072 bytes, expected at most 131071"},
      {a + "env: {A: " + std::string(kMaxArgumentBytes, 'x') + "}\n", "env.A"},
      {std::string(kMaxJobFileBytes + 1, '#'), "too large for a job"},
  });
}

TEST(JobFile, MoreThanTheKernelTakesIsRefused) {
  std::string text = "command:\n- a\n";
  for (int i = 0; i < 13; ++i) text += "- " + std::string(kMaxArgumentBytes - 100, 'x') + "\n";
  expect_refused({{text, "command: not valid: found 170"}});
}

TEST(JobFile, WhatIsNoCleanYamlIsRefused) {
  const std::string a = "command: [a]\n";
  std::string bomb = "command: [a]\nenv: &a0 {A: b}\n";
  for (int i = 1; i < 12; ++i) {
    bomb += "x" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int k = 0; k < 10; ++k) bomb += (k == 0 ? "*a" : ", *a") + std::to_string(i - 1);
    bomb += "]\n";
  }
  expect_refused({
      {a + "gpus: 1\ngpus: 2\n", "j.yaml:3: gpus: the key is there twice"},
      {a + "env: {A: 1, A: 2}\n", "A: the key is there twice"},
      {a + "checkpoint:\n\tgrace: 1s\n", "j.yaml:3: not valid YAML: found a tab as indentation"},
      {a + "<<: {gpus: 1}\n", "j.yaml:2: merge keys (<<) are not supported"},
      {a + "[a]: 1\n", "not a key"},
      {a + "? {a: b}\n: 1\n", "not a key"},
      {a + "~: 1\n", "not a key"},
      {a + "gpus: !!int 1\n", "a tag: found tag:yaml.org,2002:int"},
      {"{command: [a]}, b}\n", "j.yaml:1: not valid YAML: found the end of what"},
      {"{command: [a]}\n]\n", "j.yaml:2: not valid YAML"},
      {a + "gpus: *b\n", "j.yaml:2: not valid YAML"},
      {a + "name: 'x\n", "j.yaml:2: not valid YAML: found the end within a value"},
      {a + "env: {A: b", "j.yaml:2: not valid YAML: found the end within a value"},
      {a + "name: \xff\n", "j.yaml:2: not UTF-8: found \\xff"},
      {a + std::string("name: a\0b\n", 10), "j.yaml:2: not text: found a byte that is zero"},
      {"\xff\xfe" + a, "not UTF-8"},
      {"command: " + std::string(100'000, '['), "j.yaml:1"},
      {"command: " + std::string(100, '[') + std::string(100, ']'), "nested too deeply"},
      {bomb, "stand for too much"},
  });
}

TEST(JobFile, ByteOrderMarkAndCarriageReturnsAreNoFault) {
  const auto job =
      one("\xEF\xBB\xBF"
          "command: [a]\r\nname: b\r\n");
  ASSERT_TRUE(job) << job.error().text();
  EXPECT_EQ(job->name, "b");
}

TEST(JobFile, WrongJson) {
  const Bad cases[] = {
      {"", "not valid JSON"},
      {"[]", "a job: a map"},
      {R"({"command": ["a"]})", "directory: not valid: found nothing"},
      {R"({"command": ["a"], "directory": "x"})", "an absolute path"},
      {R"({"command": ["a", 1], "directory": "/"})", "command[1]: not valid: found '1'"},
      {R"({"command": ["a"], "command": ["b"], "directory": "/"})", "the key is there twice"},
      {R"({"command": ["a"], "directory": "/", "gpus": "1"})", "gpus"},
      {R"({"command": ["a"], "directory": "/", "gpus": null})", "gpus: not valid: found nothing"},
      {R"({"command": ["a"], "directory": "/", "accuracy": 1e400})", "not valid JSON"},
      {R"({"command": ["a"], "directory": "/", "iterations": 1e30})", "iterations"},
      {R"({"command": ["a"], "directory": "/"} x)", "not valid JSON"},
      {R"({"command": ["\ud800"], "directory": "/"})", "not valid JSON"},
      {R"({"command": ["a\u0000"], "directory": "/"})", "a byte that is zero"},
      {std::string(100'000, '['), "nested too deeply"},
  };
  for (const Bad& bad : cases) {
    const auto job = read_job_json(bad.text);
    ASSERT_FALSE(job) << bad.text;
    EXPECT_NE(job.error().text().find(bad.message), std::string::npos) << bad.text << "\n"
                                                                       << job.error().text();
    EXPECT_EQ(job.error().exit_code(), 2);
  }
}

TEST(JobFile, BuiltByHandIsCheckedToo) {
  JobSpec job;
  job.command = {"a"};
  job.directory = "/";
  EXPECT_TRUE(check_job(job));
  job.command = {"a\xff"};
  EXPECT_NE(check_job(job).error().text().find("'\\xff' at byte 1"), std::string::npos);
  job.command = {"a"};
  job.environment = {{"A", "1"}, {"A", "2"}};
  EXPECT_FALSE(check_job(job));
  job.environment.clear();
  job.deadline_unix_us = kUsPerDay * 1000;
  job.deadline_after_us = 1;
  EXPECT_FALSE(check_job(job));
}

TEST(JobFile, CasesOfTheFormat) {
  const auto read = [](const char* name) {
    return read_job_yaml(read_file(std::string("tests/cases/job-yaml/") + name), name, "/home/a");
  };
  // YM02: 010 means 8 to some readers.
  const auto types = read("YM02_yaml_types.yaml");
  ASSERT_FALSE(types);
  EXPECT_NE(types.error().text().find("YM02_yaml_types.yaml:2: gpus: not valid: found '010'"),
            std::string::npos);
  // YM04: a tab.
  const auto tab = read("YM04_tabs.yaml");
  ASSERT_FALSE(tab);
  EXPECT_NE(tab.error().text().find("YM04_tabs.yaml:3: not valid YAML: found a tab"),
            std::string::npos)
      << tab.error().text();
  EXPECT_EQ(tab.error().exit_code(), 2);
  // YM07: nothing is read by a shell.
  const auto shell = read("YM07_units_injection.yaml");
  ASSERT_TRUE(shell) << shell.error().text();
  ASSERT_EQ(shell->size(), 1U);
  EXPECT_EQ(shell->front().name, "x; rm -rf $HOME");
  EXPECT_EQ(shell->front().memory_mib, 16384U);
  EXPECT_EQ(shell->front().command.back(), "print('$(id)')");
  EXPECT_EQ(shell->front().environment.front().second, "b\nc");
  // YM09: a merge key would leave a job without GPUs.
  const auto merge = read("YM09_bom_crlf_merge.yaml");
  ASSERT_FALSE(merge);
  EXPECT_NE(merge.error().text().find(":5: job: merge keys (<<) are not supported"),
            std::string::npos)
      << merge.error().text();
}

TEST(JobSchema, IsTheFileInDocsAndNamesEveryKey) {
  EXPECT_EQ(job_schema(), read_file("docs/job.schema.json"));
  const auto schema = nlohmann::json::parse(job_schema());
  const auto job = one(kEveryKey);
  ASSERT_TRUE(job);
  const auto written = nlohmann::json::parse(job_json(*job));
  EXPECT_EQ(written.size(), schema["properties"].size());
  for (const auto& [key, value] : written.items()) {
    EXPECT_TRUE(schema["properties"].contains(key)) << key;
  }
  const std::string docs = read_file("docs/job-file.md");
  for (const auto& [key, value] : schema["properties"].items()) {
    EXPECT_NE(docs.find("`" + key + "`"), std::string::npos) << key;
  }
}

}  // namespace
}  // namespace berth
