// Prints JSON values by -o table|wide|json|yaml|name|jsonpath=…|custom-columns=….
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

// The name that kubectl prints for an object: "pod/web", "deployment.apps/web"; "" if it has no
// name. Items of a list take their kind from the list. JSON without a kind is printed with its
// plain name.
std::string object_name(const json::value& object, const json::value& list = nullptr);

// Created once from -o and --json, so that an error in a template is reported before any request.
class Printer {
 public:
  static Outcome<Printer> from(Context& context);

  bool wants_table() const { return format_ == Format::table || format_ == Format::wide; }

  bool is_wide() const { return format_ == Format::wide; }

  bool wants_raw() const { return format_ == Format::raw; }

  Outcome<void> print_table(const Table& table) const;
  // For all formats except table, wide and raw. Prints lists item by item in formats that need it.
  Outcome<void> print(const json::value& value);
  // Prints one value of a stream: JSON on one line, YAML documents separated, headers once.
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
