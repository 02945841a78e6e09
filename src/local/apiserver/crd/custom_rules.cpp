#include "local/apiserver/crd/custom_rules.hpp"

#include "local/apiserver/table/cells.hpp"

namespace plim::local::apiserver {
namespace {

json::value cell(const json::value& value, std::string_view type, WallTime now) {
  if (type == "date")
    return json::value(value.is_string() ? human_age(value.get_string(), now) : "<invalid>");
  if (type == "integer" || type == "number" || type == "boolean") return value;
  if (value.is_string()) return value;
  json::value sorted = value;
  sort_keys(sorted);
  return json::value(to_json(sorted));
}

}  // namespace

CustomRules::CustomRules(const json::value& version) {
  const json::value* schema =
      kube::find(version, "CustomResourceDefinitionVersion.schema.openAPIV3Schema");
  schema_ = read_schema(schema ? *schema : json::value(json::object()), "").schema;
  type_ = std::make_unique<const CustomType>(*schema_);
  if (const json::value* scale =
          kube::find(version, "CustomResourceDefinitionVersion.subresources.scale"))
    scale_ = {.spec = cells::text(*scale, "CustomResourceSubresourceScale.specReplicasPath"),
              .status = cells::text(*scale, "CustomResourceSubresourceScale.statusReplicasPath"),
              .selector = cells::text(*scale, "CustomResourceSubresourceScale.labelSelectorPath")};
  read_columns(version);
  table_columns_.push_back(cells::kName);
  for (const Column& column : columns_)
    table_columns_.push_back({.name = column.name,
                              .type = column.type,
                              .format = column.format,
                              .description = column.description,
                              .priority = column.priority});
  view_.columns = table_columns_;
  view_.cells = [this](const json::value& object, WallTime now) { return cells(object, now); };
  for (const json::value& field :
       cells::list(version, "CustomResourceDefinitionVersion.selectableFields")) {
    const std::string_view path = kube::text_at(field, "SelectableField.jsonPath");
    if (path.starts_with('.'))
      selectable_.push_back(
          {.field = std::string(path.substr(1)), .path = std::string(path.substr(1))});
  }
}

void CustomRules::read_columns(const json::value& version) {
  for (const json::value& column :
       cells::list(version, "CustomResourceDefinitionVersion.additionalPrinterColumns")) {
    auto path =
        PrinterPath::parse(kube::text_at(column, "CustomResourceColumnDefinition.jsonPath"));
    if (!path) continue;
    columns_.push_back(
        {.name = cells::text(column, "CustomResourceColumnDefinition.name"),
         .type = cells::text(column, "CustomResourceColumnDefinition.type"),
         .format = cells::text(column, "CustomResourceColumnDefinition.format"),
         .description = cells::text(column, "CustomResourceColumnDefinition.description"),
         .priority =
             static_cast<int>(cells::number(column, "CustomResourceColumnDefinition.priority")),
         .path = std::move(*path)});
  }
  if (!columns_.empty()) return;
  columns_.push_back({.name = "Age",
                      .type = "date",
                      .format = "",
                      .description = "Time since it was created",
                      .priority = 0,
                      .path = PrinterPath::parse(".metadata.creationTimestamp").value()});
}

json::array CustomRules::cells(const json::value& object, WallTime now) const {
  json::array out{cells::name(object)};
  for (const Column& column : columns_) {
    const json::value* found = column.path.find_in(object);
    out.push_back(found ? cell(*found, column.type, now) : json::value());
  }
  return out;
}

Result<void> CustomRules::conform(json::value& object, FieldMistakes& mistakes) const {
  prune(*schema_, object, mistakes);
  json::value* metadata =
      object.is_object() ? object.get_object().if_contains("metadata") : nullptr;
  if (!metadata) return {};
  FieldMistakes inside;
  auto good = apiserver::conform(object_meta_type(), *metadata, inside);
  for (const std::string& mistake : inside) {
    constexpr std::string_view kStart = "unknown field \"";
    mistakes.push_back(mistake.starts_with(kStart)
                           ? std::string(kStart) + "metadata." + mistake.substr(kStart.size())
                           : mistake);
  }
  return good;
}

void CustomRules::apply_defaults(json::value& object) const {
  fill_in(*schema_, object);
}

std::vector<Cause> CustomRules::validate(const json::value& object,
                                         const json::value* /*before*/) const {
  return check(*schema_, object);
}

std::vector<SelectableField> CustomRules::selectable_fields() const {
  return selectable_;
}

}  // namespace plim::local::apiserver
