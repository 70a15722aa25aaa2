// What Prometheus reads: text exposition format 0.0.4.
#include <fmt/format.h>

#include "server/api.h"
#include "server/api_json.h"

namespace berth {
namespace {

class Page {
 public:
  void family(std::string_view name, std::string_view type, std::string_view help) {
    text_ += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
    name_ = name;
  }
  // Labels are our own words: nothing in them needs escaping.
  template <class Value>
  void value(Value number, std::string_view labels = {}) {
    text_ += fmt::format("{}{} {}\n", name_, labels, number);
  }
  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  std::string text_;
  std::string_view name_;
};

}  // namespace

std::string metrics_text(const Controller& controller, const Store& store) {
  Page page;
  if (const auto counts = store.count_by_status()) {
    static constexpr std::string_view kNames[] = {"pending", "running", "finished", "stopped",
                                                  "failed"};
    page.family("berth_jobs", "gauge", "Jobs in the store by status.");
    for (std::size_t i = 0; i < counts->size() && i < std::size(kNames); ++i) {
      page.value((*counts)[i], fmt::format("{{status=\"{}\"}}", kNames[i]));
    }
  }
  const DeciderCounts& rounds = controller.decider().counts();
  page.family("berth_rounds_total", "counter", "Decisions of the policy.");
  page.value(rounds.rounds);
  page.family("berth_round_seconds_total", "counter", "Time that the policy took, all rounds.");
  page.value(seconds(rounds.all_rounds_us));
  page.family("berth_round_most_seconds", "gauge", "Longest round.");
  page.value(seconds(rounds.most_round_us));
  page.family("berth_plans_refused_total", "counter", "Plans that could not be applied whole.");
  page.value(rounds.refused);
  const Cluster& cluster = controller.slots().cluster();
  const ClusterView view = controller.state().view(0);
  page.family("berth_devices", "gauge", "GPUs and cores that jobs may have.");
  std::vector<double> free(cluster.servers.size(), 0);
  for (std::size_t s = 0; s < cluster.servers.size(); ++s) {
    const std::uint32_t first = cluster.servers[s].first_device.value;
    for (std::uint32_t d = first; d < first + cluster.servers[s].gpus; ++d) {
      if (view.devices[d].up) free[s] += view.devices[d].free_milli / 1000.0;
    }
    page.value(cluster.servers[s].gpus, fmt::format("{{node=\"{}\"}}", s));
  }
  page.family("berth_devices_free", "gauge", "What is free of them, in devices.");
  for (std::size_t s = 0; s < free.size(); ++s)
    page.value(free[s], fmt::format("{{node=\"{}\"}}", s));
  page.family("berth_store_writable", "gauge", "Whether the store could be written last.");
  page.value(controller.trouble().empty() ? 1 : 0);
  page.family("berth_events_total", "counter", "Events of this run of the scheduler.");
  page.value(controller.events().last());
  return page.take();
}

}  // namespace berth
