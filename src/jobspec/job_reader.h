// A document as a job.
#pragma once

#include <string>
#include <string_view>

#include "document/fields.h"
#include "jobspec/job_spec.h"

namespace berth {

// How strictly text is told from numbers: in YAML a plain 1e3 is a text where a text is due.
enum class Syntax : std::uint8_t { kYaml, kJson };

class JobReader {
 public:
  // `directory`: for a relative one, and for one that is missing; "": neither is right.
  JobReader(std::string_view file, Syntax syntax, const std::string& directory)
      : fields_(file, "docs/job-file.md"), syntax_(syntax), directory_(&directory) {}

  [[nodiscard]] Result<JobSpec> read(const document::Node& root);

 private:
  using Node = document::Node;
  struct Key;
  static const std::vector<Key>& keys();
  static const std::vector<Key>& checkpoint_keys();

  Status read_map(const Node& map, std::string_view field, const std::vector<Key>& keys);
  Status command(const Node& node);
  Status directory(const Node& node);
  Status environment(const Node& node);
  Status graph(const Node& node);
  Status gpus(const Node& node);
  Status gpu_types(const Node& node);
  Status deadline(const Node& node);
  Status signal(const Node& node);

  Status text(const Node& node, std::string_view field, std::string& out) const;
  Status truth(const Node& node, std::string_view field, bool& out) const;
  Status span(const Node& node, std::string_view field, TimeUs least, TimeUs& out) const;
  Status mib(const Node& node, std::string_view field, std::uint32_t& out) const;
  Status stop_option(const Node& node, std::string_view field, StopOption& out) const;
  // A number times `factor`, from `low` to `high` (times `factor`).
  Result<std::int64_t> number(const Node& node, std::string_view field, std::int64_t factor,
                              std::int64_t low, std::int64_t high) const;
  [[nodiscard]] std::optional<document::Decimal> decimal(const Node& node) const;
  Status share(const Node& node, std::string_view field, std::int32_t& out) const;
  template <class T>
  Status whole(const Node& node, std::string_view field, std::int64_t low, std::int64_t high,
               T& out) const {
    BERTH_TRY(const std::int64_t value, number(node, field, 1, low, high));
    out = static_cast<T>(value);
    return {};
  }
  [[nodiscard]] tl::unexpected<Error> wrong(const Node& at, std::string_view field,
                                            std::string expected) const {
    return fields_.wrong(at, std::string(field), std::move(expected));
  }

  document::Fields fields_;
  Syntax syntax_;
  const std::string* directory_;
  JobSpec job_;
};

}  // namespace berth
