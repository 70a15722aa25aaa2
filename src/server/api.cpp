#include "server/api.h"

#include <fmt/format.h>
#include <pwd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>
#include <optional>
#include <vector>

#include "base/number.h"
#include "base/text.h"
#include "jobspec/job_file.h"
#include "server/api_json.h"
#include "server/event_stream.h"

namespace berth {
namespace {

constexpr std::size_t kMostJobsPerRequest = 10'000;
constexpr std::int64_t kMostListed = 1'000;
constexpr std::size_t kMostTokenBytes = 128;

// Whether a text that may be JSON is cheap to parse: neither deep nor of very many parts. Looked at
// before, as a parser has taken memory and stack for it when it knows.
bool is_modest(std::string_view text) {
  constexpr int kMostDepth = 64;
  int depth = 0;
  std::size_t outer_commas = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
      continue;
    }
    if (c == '"') in_string = true;
    if ((c == '[' || c == '{') && ++depth > kMostDepth) return false;
    if (c == ']' || c == '}') --depth;
    if (c == ',' && depth <= 1 && ++outer_commas > kMostJobsPerRequest) return false;
  }
  return true;
}

HttpResponse json_response(const Json& json, int status = 200) {
  return {.status = status, .body = dump(json)};
}

std::string user_name(std::uint32_t uid) {
  std::array<char, 4096> buffer{};
  passwd entry{};
  passwd* found = nullptr;
  if (getpwuid_r(uid, &entry, buffer.data(), buffer.size(), &found) == 0 && found != nullptr) {
    return found->pw_name;
  }
  return std::to_string(uid);
}

int status_of(const Error& error) {
  switch (error.kind) {
    case ErrorKind::kBadInput:
      return 422;
    case ErrorKind::kUsage:
      return 409;
    case ErrorKind::kUnsupported:
      return 422;
    case ErrorKind::kIo:
      return 503;
    case ErrorKind::kInternal:
      return 500;
  }
  return 500;
}

HttpResponse error_response(const Error& error) {
  return berth::error_response(status_of(error), error.text(), error.field);
}

// A whole number of the query; the default where it is not given, nothing where it is no number.
std::optional<std::int64_t> number_of(const HttpRequest& request, std::string_view name,
                                      std::int64_t otherwise, std::int64_t low, std::int64_t high) {
  const auto text = request.parameter(name);
  if (!text) return otherwise;
  const auto value = parse_int(*text);
  if (!value || *value < low || *value > high) return std::nullopt;
  return value;
}

bool is_set(const HttpRequest& request, std::string_view name) {
  const auto value = request.parameter(name);
  return value && (*value == "1" || *value == "true" || value->empty());
}

HttpResponse bad_parameter(std::string_view name, std::string_view expected) {
  return berth::error_response(400, fmt::format("{}: expected {}", name, expected), name);
}

HttpResponse wrong_method(std::string_view allowed) {
  HttpResponse out = berth::error_response(405, fmt::format("only {} here", allowed));
  out.headers.emplace_back("Allow", allowed);
  return out;
}

HttpResponse no_such_path() {
  return berth::error_response(404, "no such path; /openapi.json lists them");
}

bool may_change(const Peer& peer, const JobRecord& record) {
  return peer.admin || peer.uid == record.uid;
}

HttpResponse not_yours(const JobRecord& record) {
  return berth::error_response(403, fmt::format("job {} is of {}", record.number, record.user));
}

std::optional<JobStatus> status_named(std::string_view name) {
  if (name == "finished") return JobStatus::kFinished;
  if (name == "stopped") return JobStatus::kStopped;
  if (name == "failed") return JobStatus::kFailed;
  if (name == "pending") return JobStatus::kPending;
  if (name == "running") return JobStatus::kRunning;
  return std::nullopt;
}

}  // namespace

HttpResponse error_response(int status, std::string_view message, std::string_view field) {
  Json error = {{"message", message}};
  if (!field.empty()) error["field"] = field;
  return json_response({{"error", std::move(error)}}, status);
}

Api::Api(const ApiOptions& options, Controller& controller, const Store& store,
         const Backend& backend, std::function<void()> shutdown)
    : options_(options),
      controller_(controller),
      store_(store),
      backend_(backend),
      shutdown_(std::move(shutdown)) {}

HttpResponse Api::handle(const HttpRequest& request) {
  const auto& path = request.path;
  const bool reads = request.method == "GET" || request.method == "HEAD";
  if (path.size() == 1 && path[0] == "healthz") return reads ? health() : wrong_method("GET");
  if (!request.peer) {
    HttpResponse out = berth::error_response(401, "a token is needed: Authorization: Bearer TOKEN");
    out.headers.emplace_back("WWW-Authenticate", "Bearer");
    return out;
  }
  if (path.size() == 1 && path[0] == "metrics") {
    if (!reads) return wrong_method("GET");
    return {.content_type = "text/plain; version=0.0.4", .body = metrics_text(controller_, store_)};
  }
  if (path.size() == 1 && path[0] == "openapi.json") {
    return reads ? HttpResponse{.body = std::string(openapi_text())} : wrong_method("GET");
  }
  if (path.size() < 2 || path[0] != "v1") return no_such_path();
  if (path[1] == "jobs") return path.size() == 2 ? on_jobs(request) : on_job(request);
  if (path.size() != 2) return no_such_path();
  if (path[1] == "nodes") {
    return reads ? json_response({{"nodes", nodes_json(controller_)}}) : wrong_method("GET");
  }
  if (path[1] == "status") return reads ? status() : wrong_method("GET");
  if (path[1] == "events") {
    if (!reads) return wrong_method("GET");
    const auto last = parse_int(request.last_event_id);
    const std::uint64_t from =
        last && *last >= 0 ? static_cast<std::uint64_t>(*last) : controller_.events().last();
    return {.content_type = "text/event-stream",
            .headers = {{"Cache-Control", "no-store"}},
            .stream = event_stream(controller_.events(), from)};
  }
  if (path[1] == "shutdown") {
    if (request.method != "POST") return wrong_method("POST");
    if (!request.peer->admin) {
      return berth::error_response(403, "only root and the user that the scheduler runs as");
    }
    shutdown_();
    return json_response({{"shutting_down", true}}, 202);
  }
  return no_such_path();
}

HttpResponse Api::on_jobs(const HttpRequest& request) {
  if (request.method == "GET" || request.method == "HEAD") return list(request);
  if (request.method == "POST") return submit(request);
  return wrong_method("GET, POST");
}

HttpResponse Api::submit(const HttpRequest& request) {
  const Peer& peer = *request.peer;
  if (peer.uid == 0 && !options_.allow_root) {
    return berth::error_response(
        403,
        "jobs of root are not run; submit as another user, or start the scheduler with "
        "--allow-root");
  }
  if (options_.server_uid != 0 && peer.uid != options_.server_uid) {
    return berth::error_response(
        403, fmt::format("the scheduler runs as {} and can run jobs of that user alone",
                         user_name(options_.server_uid)));
  }
  const auto token = request.parameter("token");
  if (token && (token->empty() || token->size() > kMostTokenBytes)) {
    return bad_parameter("token", "1 to 128 bytes");
  }
  if (!is_modest(request.body)) {
    return berth::error_response(
        400, fmt::format("1 to {} jobs at once, and nothing nested deeply", kMostJobsPerRequest));
  }
  Json body = Json::parse(request.body, nullptr, false);
  if (body.is_discarded() || (!body.is_object() && !body.is_array())) {
    return berth::error_response(400, "the body is not a job, nor a list of jobs, in JSON");
  }
  const bool several = body.is_array();
  const Json list = several ? std::move(body) : Json::array({std::move(body)});
  if (list.empty() || list.size() > kMostJobsPerRequest) {
    return berth::error_response(400, fmt::format("1 to {} jobs at once", kMostJobsPerRequest));
  }
  std::vector<Submission> submissions;
  for (std::size_t i = 0; i < list.size(); ++i) {
    Result<JobSpec> spec =
        read_job_json(list[i].dump(-1, ' ', false, Json::error_handler_t::replace));
    if (!spec) {
      Error error = std::move(spec).error();
      if (several) error.field = fmt::format("[{}].{}", i, error.field);
      return error_response(error);
    }
    std::string own_token = token ? std::string(*token) : "";
    if (token && several) own_token += fmt::format("/{}", i);
    submissions.push_back({.spec = std::move(*spec),
                           .user = {peer.uid, peer.gid},
                           .user_name = user_name(peer.uid),
                           .token = std::move(own_token),
                           .held = is_set(request, "held")});
  }
  const Result<std::vector<JobNumber>> numbers = controller_.submit(submissions);
  if (!numbers) return error_response(numbers.error());
  return json_response({{"jobs", *numbers}}, 201);
}

HttpResponse Api::list(const HttpRequest& request) {
  const auto limit = number_of(request, "limit", 100, 1, kMostListed);
  const auto before = number_of(request, "before", 0, 0, std::numeric_limits<JobNumber>::max());
  const auto uid = number_of(request, "uid", -1, 0, std::numeric_limits<std::uint32_t>::max());
  if (!limit) return bad_parameter("limit", fmt::format("1 to {}", kMostListed));
  if (!before) return bad_parameter("before", "the number of a job");
  if (!uid) return bad_parameter("uid", "the number of a user");
  JobFilter filter{.active_only = is_set(request, "active"),
                   .before = *before,
                   .limit = static_cast<std::size_t>(*limit)};
  if (*uid >= 0) filter.uid = static_cast<std::uint32_t>(*uid);
  if (const auto state = request.parameter("state")) {
    filter.status = status_named(*state);
    if (!filter.status)
      return bad_parameter("state", "pending, running, finished, stopped or failed");
  }
  const auto stored = store_.jobs(filter);
  if (!stored) return error_response(stored.error());
  Json jobs = Json::array();
  for (const JobRecord& record : *stored) {
    const LiveJob* live = controller_.jobs().find(record.number);
    const auto now = live != nullptr ? controller_.record_of(*live) : record;
    jobs.push_back(job_json(controller_, now, live));
  }
  const bool more = jobs.size() == filter.limit;
  return json_response({{"jobs", std::move(jobs)}, {"more", more}});
}

HttpResponse Api::on_job(const HttpRequest& request) {
  const auto number = parse_int(request.path[2]);
  if (!number || *number <= 0) return berth::error_response(404, "a job is named by its number");
  const auto record = controller_.record(*number);
  if (!record) return error_response(record.error());
  if (!*record) return berth::error_response(404, fmt::format("no job {}", *number));
  const bool reads = request.method == "GET" || request.method == "HEAD";
  if (request.path.size() == 3) {
    return reads ? show(**record, *request.peer) : wrong_method("GET");
  }
  if (request.path.size() != 4) return no_such_path();
  const std::string& what = request.path[3];
  if (what == "why") {
    if (!reads) return wrong_method("GET");
    return json_response(
        why_json(controller_, **record, controller_.jobs().find(*number), options_.look_ahead_us));
  }
  if (what == "logs") return reads ? logs(**record, request) : wrong_method("GET");
  constexpr std::array<std::string_view, 4> kChanges = {"cancel", "hold", "release", "requeue"};
  if (std::ranges::count(kChanges, what) == 0) return no_such_path();
  return request.method == "POST" ? change(**record, request) : wrong_method("POST");
}

HttpResponse Api::show(const JobRecord& record, const Peer& peer) {
  const LiveJob* live = controller_.jobs().find(record.number);
  Json out = job_json(controller_, record, live);
  if (live == nullptr) {
    // What its runs have written is still there.
    JobReports reports;
    if (const auto spec = read_job_json(record.spec_json)) {
      for (std::uint32_t a = 1; a <= record.attempts; ++a) {
        reports.follow_run(*spec, backend_.folder(attempt_key(record.number, a)), record.uid);
      }
    }
    reports.read_to_end(0);
    add_reports(reports, out);
  }
  const auto attempts = store_.attempts(record.number);
  if (!attempts) return error_response(attempts.error());
  out["runs"] = attempts_json(*attempts);
  // Its environment may hold secrets.
  out["spec"] = nullptr;
  if (may_change(peer, record)) out["spec"] = Json::parse(record.spec_json, nullptr, false);
  return json_response(out);
}

HttpResponse Api::logs(const JobRecord& record, const HttpRequest& request) {
  if (!may_change(*request.peer, record)) return not_yours(record);
  const bool follow = is_set(request, "follow");
  if (record.attempts == 0 && !follow) {
    return berth::error_response(404, "it has not begun to run yet");
  }
  const bool one_run = request.parameter("attempt").has_value();
  const auto attempt = number_of(request, "attempt", record.attempts, 1, record.attempts);
  const auto task = number_of(request, "task", 0, 0, kMaxTasksPerJob - 1);
  const auto tail = number_of(request, "tail", -1, 0, kMostLookedForLines);
  const std::string_view stream = request.parameter("stream").value_or("both");
  const auto spec = read_job_json(record.spec_json);
  const std::uint32_t tasks = spec ? spec->tasks() : 1;
  if (task && *task >= tasks) {
    return berth::error_response(404, fmt::format("it has {}", counted(tasks, "task")), "task");
  }
  if (!attempt) {
    return bad_parameter("attempt", record.attempts == 0 ? "none: it has not begun to run yet"
                                                         : fmt::format("1 to {}", record.attempts));
  }
  if (!task) return bad_parameter("task", "the number of a task, from 0");
  if (!tail) return bad_parameter("tail", fmt::format("0 to {} lines", kMostLookedForLines));
  if (stream != "out" && stream != "err" && stream != "both") {
    return bad_parameter("stream", "out, err or both");
  }
  LogQuery query{
      .folder = [this, job = record.number](
                    std::uint32_t number) { return backend_.folder(attempt_key(job, number)); },
      .task = static_cast<std::uint32_t>(*task),
      .attempt = static_cast<std::uint32_t>(*attempt),
      .out = stream != "err",
      .err = stream != "out",
      .tail_lines = *tail};
  if (follow) {
    query.now = [this, job = record.number, only = one_run ? query.attempt : 0] {
      return log_moment(job, only);
    };
  }
  auto log = log_stream(std::move(query));
  if (!log) return berth::error_response(404, "no such log: " + log.error().text());
  return {.content_type = "application/octet-stream",
          .headers = {{"Cache-Control", "no-store"}},
          .stream = std::move(*log)};
}

// `only`: of this run alone; 0: of the job.
LogMoment Api::log_moment(JobNumber number, std::uint32_t only) const {
  const LiveJob* live = controller_.jobs().find(number);
  if (only > 0) {
    return {only, live != nullptr && live->attempt && live->attempt->record.attempt == only};
  }
  if (live != nullptr) return {live->record.attempts, true};
  const auto ended = controller_.record(number);
  return {ended && *ended ? (*ended)->attempts : 0, false};
}

HttpResponse Api::change(const JobRecord& record, const HttpRequest& request) {
  const Peer& peer = *request.peer;
  if (!may_change(peer, record)) return not_yours(record);
  // A disk that is full has room again; of what is done now nobody would know.
  if (const Status there = store_.still_there(); !there) return error_response(there.error());
  const JobNumber number = record.number;
  const std::string& what = request.path[3];
  Status status;
  if (what == "cancel") {
    status = controller_.cancel(number, is_set(request, "now"));
  } else if (what == "hold") {
    const bool own = peer.uid == record.uid;
    status = controller_.hold(number, own ? HoldState::kByUser : HoldState::kByOperator);
  } else if (what == "release") {
    if (record.hold == HoldState::kByOperator && !peer.admin) {
      return berth::error_response(403, "held by an operator, who must release it");
    }
    status = controller_.release(number);
  } else {
    status = controller_.requeue(number);
  }
  if (!status) return error_response(status.error());
  const auto after = controller_.record(number);
  if (!after || !*after) return error_response(after ? internal_error("gone") : after.error());
  return json_response(job_json(controller_, **after, controller_.jobs().find(number)), 202);
}

HttpResponse Api::status() const {
  const DeciderCounts& rounds = controller_.decider().counts();
  std::size_t running = 0;
  std::size_t pending = 0;
  std::size_t held = 0;
  for (const auto& [number, job] : controller_.jobs()) {
    if (job.attempt) {
      ++running;
    } else if (job.record.hold != HoldState::kNone) {
      ++held;
    } else {
      ++pending;
    }
  }
  const double mean_us = rounds.rounds > 0 ? static_cast<double>(rounds.all_rounds_us) /
                                                 static_cast<double>(rounds.rounds)
                                           : 0.0;
  return json_response({{"version", options_.version},
                        {"policy", controller_.options().policy},
                        {"running", running},
                        {"pending", pending},
                        {"held", held},
                        {"rounds", rounds.rounds},
                        {"round_mean_us", mean_us},
                        {"round_most_us", rounds.most_round_us},
                        {"plans_refused", rounds.refused},
                        {"last_refusal", rounds.last_refusal},
                        {"trouble", controller_.trouble()}});
}

HttpResponse Api::health() const {
  const bool well = controller_.trouble().empty();
  return json_response({{"status", well ? "ok" : "cannot write its store"}}, well ? 200 : 503);
}

}  // namespace berth
