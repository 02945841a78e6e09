// Lists and watches as tables, which kubectl prints.
#pragma once

#include <memory>
#include <string_view>

#include "base/json.hpp"
#include "local/apiserver/api/call.hpp"
#include "local/apiserver/api/watch_session.hpp"
#include "local/apiserver/table/object_table.hpp"

namespace plim::local::apiserver {

class TableWriter {
 public:
  TableWriter(const Call& call, WallTime now);

  void add(std::string_view bytes);
  json::value finish(json::object metadata) &&;

  // Only the first table of a watch has column definitions.
  void leave_out_columns() { with_columns_ = false; }

 private:
  json::value shown_object(json::value object) const;

  const Call& call_;
  const TableView& view_;
  WallTime now_;
  bool with_columns_ = true;
  json::array rows_;
};

std::unique_ptr<WatchFormat> make_table_lines(const Clock& clock, CallPtr call);

}  // namespace plim::local::apiserver
