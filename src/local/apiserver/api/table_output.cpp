#include "local/apiserver/api/table_output.hpp"

#include <utility>

#include <fmt/format.h>

#include "local/apiserver/api/kind_rules.hpp"
#include "local/apiserver/api/object_bytes.hpp"

namespace plim::local::apiserver {
namespace {

const TableView& view_of(const Kind& kind) {
  const TableView* own = kind.rules ? kind.rules->table() : nullptr;
  // Cells are read from stored objects.
  return own ? *own
             : table_view(kind.conversion ? kind.conversion->stored_group : kind.group, kind.kind);
}

json::value column_json(const TableColumn& column) {
  return {{"name", column.name},
          {"type", column.type},
          {"format", column.format},
          {"description", column.description},
          {"priority", column.priority}};
}

class TableLines final : public WatchFormat {
 public:
  TableLines(const Clock& clock, CallPtr call) : clock_(clock), call_(std::move(call)) {}

  std::string added(const store::Entry& entry) override {
    return line_of(EventType::added, *entry.value);
  }

  net::Piece line(const store::ChangePtr& change, EventType type) override {
    return std::make_shared<const std::string>(
        line_of(type, object_of(call_->kind(), *change, type)));
  }

 private:
  std::string line_of(EventType type, std::string_view bytes) {
    TableWriter table(*call_, clock_.wall());
    if (!std::exchange(first_, false)) table.leave_out_columns();
    table.add(bytes);
    json::object metadata;
    const json::object event{{"type", name_of(type)},
                             {"object", std::move(table).finish(std::move(metadata))}};
    return to_json(event) + "\n";
  }

  const Clock& clock_;
  CallPtr call_;
  bool first_ = true;
};

}  // namespace

TableWriter::TableWriter(const Call& call, WallTime now)
    : call_(call), view_(view_of(call.kind())), now_(now) {}

json::value TableWriter::shown_object(json::value object) const {
  const std::string_view include = call_.query.text("includeObject");
  if (include == "None") return nullptr;
  object.as_object()["kind"] = call_.kind().kind;
  object.as_object()["apiVersion"] = call_.kind().api_version;
  if (include == "Object") return object;
  return {{"kind", "PartialObjectMetadata"},
          {"apiVersion", "meta.k8s.io/" + call_.format.version},
          {"metadata", std::move(object.as_object()["metadata"])}};
}

void TableWriter::add(std::string_view bytes) {
  json::value object = decode_object(bytes);
  json::array cells = view_.cells(object, now_);
  json::object row{{"cells", std::move(cells)}};
  if (view_.conditions)
    if (json::array conditions = view_.conditions(object); !conditions.empty())
      row["conditions"] = std::move(conditions);
  row["object"] = shown_object(std::move(object));
  rows_.push_back(std::move(row));
}

json::value TableWriter::finish(json::object metadata) && {
  json::array columns;
  if (with_columns_)
    for (const TableColumn& column : view_.columns) columns.push_back(column_json(column));
  json::object out{{"kind", "Table"},
                   {"apiVersion", "meta.k8s.io/" + call_.format.version},
                   {"metadata", std::move(metadata)}};
  // Null, not an empty list, means for kubectl that the columns are unchanged.
  if (with_columns_)
    out["columnDefinitions"] = std::move(columns);
  else
    out["columnDefinitions"] = nullptr;
  out["rows"] = std::move(rows_);
  return out;
}

std::unique_ptr<WatchFormat> make_table_lines(const Clock& clock, CallPtr call) {
  return std::make_unique<TableLines>(clock, std::move(call));
}

}  // namespace plim::local::apiserver
