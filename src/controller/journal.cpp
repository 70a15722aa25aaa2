#include "controller/journal.h"

namespace berth {

Status Journal::write(Durability durability, const std::string& clock) {
  for (const auto& [number, job] : jobs_) BERTH_CHECK_OK(store_.update_job(job));
  for (const auto& [name, attempt] : attempts_) BERTH_CHECK_OK(store_.put_attempt(attempt));
  BERTH_CHECK_OK(store_.set_fact("clock", clock));
  return store_.commit(durability);
}

Status Journal::flush(Backend& backend, Durability durability, const std::string& clock,
                      std::vector<RefusedStart>& refused) {
  if (Status status = write(durability, clock); !status) {
    store_.roll_back();
    trouble_ = status.error().text();
    return status;
  }
  trouble_.clear();
  jobs_.clear();
  attempts_.clear();
  for (Act& act : std::exchange(acts_, {})) {
    if (const auto* start = std::get_if<StartAct>(&act)) {
      if (Status status = backend.start(start->launch); !status) {
        refused.push_back({start->launch.key, std::move(status).error()});
      }
    } else if (const auto* stop = std::get_if<StopAct>(&act)) {
      backend.stop(stop->key, stop->now);
    } else {
      backend.forget(std::get<ForgetAct>(act).key);
    }
  }
  return {};
}

}  // namespace berth
