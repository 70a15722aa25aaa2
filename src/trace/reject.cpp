#include "trace/reject.h"

#include <utility>

namespace berth::trace {

void RejectReport::reject(RowNote note) {
  ++rejected_;
  ++rejected_by_reason_[note.reason];
  if (rejected_notes_.size() < kKeptNotes) rejected_notes_.push_back(std::move(note));
}

void RejectReport::warn(RowNote note) {
  ++warned_;
  ++warned_by_reason_[note.reason];
  if (warned_notes_.size() < kKeptNotes) warned_notes_.push_back(std::move(note));
}

void RejectReport::count(std::string_view what, std::uint64_t n) {
  counts_[std::string(what)] += n;
}

}  // namespace berth::trace
