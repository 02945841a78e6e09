// The tables that kubectl prints: columns and cells of every kind (meta.k8s.io/v1 Table).
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/json.hpp"

namespace plim::local::apiserver {

struct TableColumn {
  std::string_view name;
  std::string_view type = "string";  // or integer, date
  std::string_view format = {};      // "name" for the first column
  std::string_view description = {};
  int priority = 0;  // 1: only in wide output
};

// How one kind is printed. Kinds without a view have the columns Name and Created At. The owner of
// the columns outlives it.
struct TableView {
  std::span<const TableColumn> columns;
  std::function<json::array(const json::value& object, WallTime now)> cells;
  // Conditions of a row, which change its look, as for finished pods. Mostly empty.
  json::array (*conditions)(const json::value& object) = nullptr;
};

const TableView& table_view(std::string_view group, std::string_view kind);

// "5m12s", as in the AGE column of kubectl; "<unknown>" for a missing time.
std::string human_age(std::string_view rfc3339, WallTime now);

}  // namespace plim::local::apiserver
