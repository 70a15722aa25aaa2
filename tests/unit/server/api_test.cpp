#include "server/api.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "support/live_controller.h"

namespace berth {
namespace {

using Json = nlohmann::json;

constexpr Peer kAnn{.uid = 1000, .gid = 1000};
constexpr Peer kBob{.uid = 1001, .gid = 1001};
constexpr Peer kRoot{.uid = 0, .gid = 0, .admin = true};
constexpr std::string_view kJob =
    R"json({"name":"a","command":["/bin/true","$(id)"],"directory":"/","env":{
  "SECRET" : "x"
}
})json";

class ApiTest : public ::testing::Test {
 protected:
  HttpResponse ask(std::string method, std::string_view target, std::optional<Peer> peer = kAnn,
                   std::string body = {}) {
    HttpRequest request{.method = std::move(method), .body = std::move(body), .peer = peer};
    const std::size_t mark = target.find('?');
    for (const auto part : split(target.substr(1, mark - 1), '/')) request.path.emplace_back(part);
    if (mark != std::string_view::npos) {
      for (const auto pair : split(target.substr(mark + 1), '&')) {
        const std::size_t equals = pair.find('=');
        request.query.emplace_back(pair.substr(0, equals), pair.substr(equals + 1));
      }
    }
    return api_.handle(request);
  }
  static Json json(const HttpResponse& response) { return Json::parse(response.body); }
  std::int64_t submit(std::optional<Peer> peer = kAnn) {
    const HttpResponse response = ask("POST", "/v1/jobs", peer, std::string(kJob));
    EXPECT_EQ(response.status, 201) << response.body;
    return json(response)["jobs"][0].get<std::int64_t>();
  }

  berth::testing::LiveController live_{berth::testing::FakeBackend::machine(1)};
  bool ended_ = false;
  Api api_{{.version = "test"}, *live_.controller, *live_.store, live_.backend, [this] {
             ended_ = true;
           }};
};

TEST_F(ApiTest, WithoutATokenOnlyHealthIsTold) {
  EXPECT_EQ(ask("GET", "/healthz", std::nullopt).status, 200);
  for (const auto* target : {"/metrics", "/openapi.json", "/v1/jobs", "/v1/nodes", "/v1/events",
                             "/v1/status", "/v1/jobs/1", "/v1/jobs/1/logs"}) {
    EXPECT_EQ(ask("GET", target, std::nullopt).status, 401) << target;
  }
  EXPECT_EQ(ask("POST", "/v1/jobs", std::nullopt, std::string(kJob)).status, 401);
  EXPECT_EQ(ask("POST", "/v1/shutdown", std::nullopt).status, 401);
}

TEST_F(ApiTest, UsersChangeTheirOwnJobsAlone) {
  const std::int64_t number = submit();
  const std::string job = "/v1/jobs/" + std::to_string(number);
  live_.turn();
  for (const auto* what : {"/cancel", "/hold", "/release", "/requeue"}) {
    EXPECT_EQ(ask("POST", job + what, kBob).status, 403) << what;
    EXPECT_EQ(ask("GET", job + what, kAnn).status, 405) << what;
  }
  EXPECT_EQ(ask("GET", job + "/logs", kBob).status, 403);
  EXPECT_TRUE(json(ask("GET", job, kBob))["spec"].is_null());
  EXPECT_EQ(json(ask("GET", job, kAnn))["spec"]["env"]["SECRET"], "x");
  EXPECT_EQ(ask("POST", job + "/hold", kRoot).status, 202);
  EXPECT_EQ(ask("POST", job + "/release", kAnn).status, 403);
  EXPECT_EQ(ask("POST", job + "/release", kRoot).status, 202);
  EXPECT_EQ(ask("POST", job + "/cancel", kAnn).status, 202);
  EXPECT_EQ(ask("POST", "/v1/shutdown", kAnn).status, 403);
  EXPECT_FALSE(ended_);
  EXPECT_EQ(ask("POST", "/v1/shutdown", kRoot).status, 202);
  EXPECT_TRUE(ended_);
}

TEST_F(ApiTest, JobsOfRootNeedLeave) {
  EXPECT_EQ(ask("POST", "/v1/jobs", kRoot, std::string(kJob)).status, 403);
}

TEST_F(ApiTest, AWrongJobNamesItsField) {
  const auto refused = [&](std::string body, int status, std::string_view field) {
    const HttpResponse response = ask("POST", "/v1/jobs", kAnn, body);
    EXPECT_EQ(response.status, status) << body << response.body;
    if (field.empty()) return;
    EXPECT_EQ(json(response)["error"]["field"], field) << response.body;
  };
  refused("", 400, "");
  refused("7", 400, "");
  refused("[]", 400, "");
  refused(std::string(300'000, '['), 400, "");
  refused(R"({"command":)" + std::string(300'000, '[') + std::string(300'000, ']') + "}", 400, "");
  std::string many = "[";
  for (int i = 0; i < 1'000'000; ++i) many += "1,";
  refused(many + "1]", 400, "");
  refused(R"([{"command":["a",",[[[[\"[["],"directory":"/"},7])", 422, "");
  refused(R"({"directory":"/"})", 422, "command");
  refused(R"({"command":["a"],"directory":"/","gpu":1})", 422, "gpu");
  refused(R"([{"command":["a"],"directory":"/"},{"command":[],"directory":"/"}])", 422,
          "[1].command");
  refused(R"({"command":["a"],"directory":"/","gpus":1,"gpu_type":"H900"})", 422, "gpu_type");
  EXPECT_EQ(json(ask("GET", "/v1/jobs"))["jobs"].size(), 0U);
}

TEST_F(ApiTest, WhyTellsWhoIsAheadAndWhen) {
  for (int i = 0; i < 12; ++i) {
    const std::string key = std::to_string(submit()) + ".1";
    live_.turn();
    live_.now_us += kUsPerMin;
    live_.backend.finish(key);
    live_.turn();
  }
  submit();
  submit(kBob);
  const std::int64_t last = submit();
  live_.turn();
  const Json why = json(ask("GET", "/v1/jobs/" + std::to_string(last) + "/why", kBob));
  EXPECT_EQ(why["state"], "pending");
  EXPECT_FALSE(why["reason"]["text"].get<std::string>().empty());
  EXPECT_EQ(why["ahead_count"], 1);
  EXPECT_EQ(why["ahead"][0]["job"], last - 1);
  EXPECT_LE(why["start"]["low_s"], why["start"]["median_s"]);
  EXPECT_LE(why["start"]["median_s"], why["start"]["high_s"]);
}

TEST_F(ApiTest, AJobThatNeverFitsSaysSo) {
  const HttpResponse response =
      ask("POST", "/v1/jobs", kAnn, R"({"command":["/bin/true"],"directory":"/","cpus":9})");
  ASSERT_EQ(response.status, 201);
  live_.turn();
  const Json why = json(ask("GET", "/v1/jobs/1/why"));
  EXPECT_TRUE(why["reason"]["code"].get<std::string>().starts_with("never")) << why;
  EXPECT_TRUE(why["start"].is_null());
}

TEST_F(ApiTest, ATokenOfAnotherJobIsRefused) {
  const auto with_token = [&](std::string body) {
    return ask("POST", "/v1/jobs?token=t", kAnn, std::move(body));
  };
  const HttpResponse first = with_token(std::string(kJob));
  ASSERT_EQ(first.status, 201);
  const HttpResponse again = with_token(std::string(kJob));
  EXPECT_EQ(again.status, 201);
  EXPECT_EQ(again.body, first.body);
  const HttpResponse other = with_token(R"({"name":"a","command":["/bin/false"],"directory":"/"})");
  EXPECT_EQ(other.status, 409);
  const auto message = json(other)["error"]["message"].get<std::string>();
  EXPECT_NE(message.find("used for job 1, which is another one (different: command, env)"),
            std::string::npos)
      << message;
  // Nothing of a list goes in where one of it is refused; another user's tokens are his own.
  EXPECT_EQ(with_token("[" + std::string(kJob) + "]").status, 201);
  const HttpResponse list =
      with_token(R"([{"command":["x"],"directory":"/"},{"command":["y"],"directory":"/"}])");
  EXPECT_EQ(list.status, 409);
  EXPECT_EQ(json(ask("GET", "/v1/jobs"))["jobs"].size(), 2U);
  EXPECT_EQ(ask("POST", "/v1/jobs?token=t", kBob, R"({"command":["x"],"directory":"/"})").status,
            201);
}

TEST_F(ApiTest, AStoreThatWasTakenAwayIsSaid) {
  const std::int64_t number = submit();
  live_.turn();
  EXPECT_EQ(ask("GET", "/healthz").status, 200);
  const std::filesystem::path path = live_.folder + "/berth.db";
  std::filesystem::rename(path, path.string() + ".moved");
  live_.turn(6);
  EXPECT_EQ(ask("GET", "/healthz").status, 503);
  EXPECT_NE(live_.controller->trouble().find("moved, removed or replaced"), std::string::npos);
  // Nor is another file taken for it.
  std::ofstream(path) << "x";
  const HttpResponse refused = ask("POST", "/v1/jobs", kAnn, std::string(kJob));
  EXPECT_EQ(refused.status, 503);
  EXPECT_NE(refused.body.find("moved, removed or replaced"), std::string::npos) << refused.body;
  EXPECT_EQ(ask("POST", "/v1/jobs/1/cancel").status, 503);
  EXPECT_FALSE(live_.controller->settle()) << "the end says it";
  EXPECT_FALSE(live_.backend.attempts.at(std::to_string(number) + ".1").told_to_stop);
  std::filesystem::rename(path.string() + ".moved", path);
  live_.turn(6);
  EXPECT_EQ(ask("GET", "/healthz").status, 200);
  EXPECT_EQ(ask("POST", "/v1/jobs/1/cancel").status, 202);
}

TEST_F(ApiTest, NodesCountProcesses) {
  berth::testing::LiveController live(berth::testing::FakeBackend::machine(4, 4));
  Api api({.version = "test"}, *live.controller, *live.store, live.backend, [] {});
  const HttpResponse submitted =
      api.handle({.method = "POST",
                  .path = {"v1", "jobs"},
                  .body = R"({"command":["x"],"directory":"/","gpus":2,"replicas":2})",
                  .peer = kAnn});
  ASSERT_EQ(submitted.status, 201) << submitted.body;
  live.turn();
  const Json nodes = json(api.handle({.method = "GET", .path = {"v1", "nodes"}, .peer = kAnn}));
  std::int64_t tasks = 0;
  for (const Json& node : nodes["nodes"]) tasks += node["tasks"].get<std::int64_t>();
  EXPECT_EQ(tasks, 2) << nodes;
}

TEST_F(ApiTest, LogsAreReadThroughRotation) {
  live_.backend.folder_root = live_.folder;
  const std::int64_t number = submit();
  live_.turn();
  const std::string folder = live_.backend.folder(std::to_string(number) + ".1");
  std::filesystem::create_directory(folder);
  std::ofstream(folder + "/0.out") << "one\n";
  HttpResponse response = ask("GET", "/v1/jobs/1/logs?follow=1");
  ASSERT_EQ(response.status, 200);
  std::string text;
  EXPECT_TRUE(response.stream->read(text, 1'000));
  std::ofstream(folder + "/0.out", std::ios::app) << "two\n";
  std::filesystem::rename(folder + "/0.out", folder + "/0.out.1");
  std::ofstream(folder + "/0.out") << "three\n";
  EXPECT_TRUE(response.stream->read(text, 1'000));
  EXPECT_EQ(text, "one\ntwo\nthree\n");
  live_.backend.finish("1.1");
  live_.turn();
  EXPECT_FALSE(response.stream->read(text, 1'000));
  text.clear();
  HttpResponse tail = ask("GET", "/v1/jobs/1/logs?tail=2");
  while (tail.stream->read(text, 3)) {
  }
  EXPECT_EQ(text, "two\nthree\n");
  // Not a file of ours.
  std::filesystem::remove(folder + "/0.out");
  std::filesystem::create_symlink("/etc/passwd", folder + "/0.out");
  EXPECT_EQ(ask("GET", "/v1/jobs/1/logs").status, 404);
  EXPECT_EQ(ask("GET", "/v1/jobs/1/logs?stream=../x").status, 400);
  EXPECT_EQ(ask("GET", "/v1/jobs/1/logs?task=-1").status, 400);
}

TEST_F(ApiTest, EventsGoOnWhereAClientWas) {
  submit();
  live_.turn();
  HttpRequest request{
      .method = "GET", .path = {"v1", "events"}, .last_event_id = "0", .peer = kBob};
  const HttpResponse response = api_.handle(request);
  std::string text;
  ASSERT_TRUE(response.stream->read(text, 100'000));
  EXPECT_NE(text.find("event: submitted\n"), std::string::npos);
  EXPECT_NE(text.find("event: started\n"), std::string::npos);
  text.clear();
  EXPECT_TRUE(response.stream->read(text, 100'000));
  EXPECT_EQ(text, "");
}

TEST_F(ApiTest, TheDescriptionNamesEveryPath) {
  const Json api = Json::parse(ask("GET", "/openapi.json").body);
  submit();
  for (const auto& [path, methods] : api["paths"].items()) {
    std::string target = path;
    if (const auto at = target.find("{job}"); at != std::string::npos) target.replace(at, 5, "1");
    for (const auto& [method, what] : methods.items()) {
      std::string upper = method == "get" ? "GET" : "POST";
      const HttpResponse response = ask(upper, target, kBob, std::string(kJob));
      EXPECT_NE(response.status, 405) << target;
      EXPECT_TRUE(what["responses"].contains(std::to_string(response.status)))
          << upper << " " << target << " answers " << response.status;
    }
  }
  EXPECT_EQ(ask("GET", "/nothing").status, 404);
  EXPECT_EQ(ask("DELETE", "/v1/jobs").status, 405);
}

}  // namespace
}  // namespace berth
