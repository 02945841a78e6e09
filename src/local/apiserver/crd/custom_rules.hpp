// Decodes, validates and prints the objects of one version of a custom resource.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "local/apiserver/api/kind_rules.hpp"
#include "local/apiserver/crd/custom_schema.hpp"
#include "local/apiserver/crd/custom_type.hpp"
#include "local/apiserver/crd/printer_path.hpp"

namespace plim::local::apiserver {

class CustomRules final : public KindRules {
 public:
  // `version` is an element of spec.versions in a definition that was checked when it was written.
  explicit CustomRules(const json::value& version);
  CustomRules(const CustomRules&) = delete;
  CustomRules& operator=(const CustomRules&) = delete;

  Result<void> conform(json::value& object, FieldMistakes& mistakes) const override;
  void apply_defaults(json::value& object) const override;
  std::vector<Cause> validate(const json::value& object, const json::value* before) const override;
  std::vector<SelectableField> selectable_fields() const override;

  const TableView* table() const override { return &view_; }

  const Type* apply_type() const override { return type_->root(); }

  const ScalePaths& scale_paths() const override { return scale_; }

 private:
  struct Column {
    std::string name, type, format, description;
    int priority = 0;
    PrinterPath path;
  };

  void read_columns(const json::value& version);
  json::array cells(const json::value& object, WallTime now) const;

  CustomSchemaPtr schema_;
  std::unique_ptr<const CustomType> type_;
  ScalePaths scale_;
  std::vector<Column> columns_;
  std::vector<TableColumn> table_columns_;  // views into columns_
  TableView view_;
  std::vector<SelectableField> selectable_;
};

}  // namespace plim::local::apiserver
