// -o table|wide|json|yaml|name|jsonpath=…|custom-columns=… over JSON values.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "base/table.hpp"
#include "cli/failures.hpp"
#include "cli/jsonpath.hpp"
#include "cli/run.hpp"

namespace plim::cli {

// kubectl's name of an object: "pod/web", "deployment.apps/web"; "" without a name. Items of a list
// have their kind from the list; what is no object of Kubernetes is called by its plain name.
std::string object_name(const json::value& object, const json::value& list = nullptr);

// Chosen once from -o and --json, so that a mistake in a template is found before any request.
class Printer {
 public:
  static Outcome<Printer> from(Context& context);

  bool wants_table() const { return format_ == Format::table || format_ == Format::wide; }

  bool is_wide() const { return format_ == Format::wide; }

  bool wants_raw() const { return format_ == Format::raw; }

  Outcome<void> print_table(const Table& table) const;
  // Any other format than table, wide and raw. Lists are printed item by item where it makes sense.
  Outcome<void> print(const json::value& value);
  // One of a stream of values: JSON on one line, YAML documents apart, headers once.
  Outcome<void> print_next(const json::value& value);

 private:
  enum class Format { raw, table, wide, json, yaml, name, jsonpath, custom_columns };

  struct Column {
    std::string header;
    JsonPath path;
  };

  Printer(Format format, Context& context);
  Outcome<void> choose_columns(std::string_view text);
  Outcome<std::string> columns_text(const json::value& value);
  Outcome<void> print(const json::value& value, bool streaming);

  Format format_;
  Writer* out_;
  bool headers_ = true;
  Terminal terminal_;
  std::optional<JsonPath> path_;
  std::vector<Column> columns_;
};

}  // namespace plim::cli
