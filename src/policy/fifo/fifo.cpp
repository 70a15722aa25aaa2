#include "policy/fifo/fifo.h"

#include "policy/common/fifo_queue.h"
#include "policy/common/options.h"

namespace berth {
namespace {

class Fifo final : public FifoPolicyBase {
 protected:
  void make_plan(const Round& round) override { give_reasons(round, start_heads(round)); }
};

}  // namespace

Result<std::unique_ptr<Policy>> make_fifo(std::span<const PolicyOption> options) {
  BERTH_CHECK_OK(no_options("fifo", options));
  return std::make_unique<Fifo>();
}

}  // namespace berth
