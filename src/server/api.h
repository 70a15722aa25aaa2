// The HTTP interface of a scheduler (docs/openapi.json): who may ask for what, and the answers.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "controller/controller.h"
#include "server/http.h"
#include "server/log_stream.h"
#include "store/store.h"

namespace berth {

struct ApiOptions {
  bool allow_root = false;  // jobs may run as root
  std::uint32_t server_uid = 0;
  std::string version;
  TimeUs look_ahead_us = kUsPerS / 5;  // for the estimate of a start
};

class Api {
 public:
  // All three must outlive it and what it answers. `shutdown` is called when an administrator asks
  // for the end.
  Api(const ApiOptions& options, Controller& controller, const Store& store, const Backend& backend,
      std::function<void()> shutdown);

  [[nodiscard]] HttpResponse handle(const HttpRequest& request);

 private:
  [[nodiscard]] HttpResponse on_jobs(const HttpRequest& request);
  [[nodiscard]] HttpResponse submit(const HttpRequest& request);
  [[nodiscard]] HttpResponse list(const HttpRequest& request);
  [[nodiscard]] HttpResponse on_job(const HttpRequest& request);
  [[nodiscard]] HttpResponse show(const JobRecord& record, const Peer& peer);
  [[nodiscard]] HttpResponse logs(const JobRecord& record, const HttpRequest& request);
  [[nodiscard]] LogMoment log_moment(JobNumber number, std::uint32_t only) const;
  [[nodiscard]] HttpResponse change(const JobRecord& record, const HttpRequest& request);
  [[nodiscard]] HttpResponse status() const;
  [[nodiscard]] HttpResponse health() const;

  ApiOptions options_;
  Controller& controller_;
  const Store& store_;
  const Backend& backend_;
  std::function<void()> shutdown_;
};

// {"error": {"message": ..., "field": ...}}
[[nodiscard]] HttpResponse error_response(int status, std::string_view message,
                                          std::string_view field = {});

// The whole interface in words for programs: docs/openapi.json.
[[nodiscard]] std::string_view openapi_text();

// What Prometheus reads.
[[nodiscard]] std::string metrics_text(const Controller& controller, const Store& store);

}  // namespace berth
