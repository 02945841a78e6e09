#include "cli/printer.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/text.hpp"
#include "base/yaml.hpp"
#include "kube/paths.hpp"

namespace plim::cli {
namespace {

Failure bad_template(const Error& error) {
  return Failure{.code = Plm::bad_template, .exit = 2, .what = error.message};
}

// Commas inside brackets, braces or quotes belong to an expression.
std::vector<std::string_view> split_columns(std::string_view text) {
  std::vector<std::string_view> out;
  int depth = 0;
  char quote = 0;
  std::size_t start = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '\'' || c == '"') {
      quote = c;
    } else if (c == '[' || c == '{' || c == '(') {
      ++depth;
    } else if (c == ']' || c == '}' || c == ')') {
      --depth;
    } else if (c == ',' && depth <= 0) {
      out.push_back(text.substr(start, i - start));
      start = i + 1;
    }
  }
  out.push_back(text.substr(start));
  return out;
}

const json::array* items_of(const json::value& value) {
  const json::value* items = find(value, {"items"});
  return items == nullptr ? nullptr : items->if_array();
}

}  // namespace

std::string object_name(const json::value& object, const json::value& list) {
  std::string_view kind = kube::text_at(object, "Object.kind");
  std::string_view api_version = kube::text_at(object, "Object.apiVersion");
  std::string_view list_kind = kube::text_at(list, "ObjectList.kind");
  if (kind.empty() && list_kind.ends_with("List")) {
    kind = list_kind.substr(0, list_kind.size() - 4);
    api_version = kube::text_at(list, "ObjectList.apiVersion");
  }
  if (kind.empty()) return std::string(text_at(object, {"name"}));
  std::string_view name = kube::text_at(object, "Object.metadata.name");
  if (name.empty()) return "";
  auto [group, version] = cut(api_version, '/');
  bool in_group = !version.empty();
  return fmt::format("{}{}{}/{}", to_lower(kind), in_group ? "." : "", in_group ? group : "", name);
}

Printer::Printer(Format format, Context& context)
    : format_(format),
      out_(&context.world.out),
      headers_(!context.values.boolean("no-headers")),
      terminal_(context.world.terminal) {}

Outcome<Printer> Printer::from(Context& context) {
  struct Row {
    std::string_view name;
    Format format;
  };

  static constexpr std::array kRows{
      Row{"raw", Format::raw},           Row{"table", Format::table},
      Row{"wide", Format::wide},         Row{"json", Format::json},
      Row{"yaml", Format::yaml},         Row{"name", Format::name},
      Row{"jsonpath", Format::jsonpath}, Row{"custom-columns", Format::custom_columns},
  };
  std::string chosen = context.values.text("output");
  if (chosen.empty() && context.values.boolean("json")) chosen = "json";
  if (chosen.empty()) chosen = split_choices(context.command.formats).front();
  auto [name, text] = cut(chosen, '=');
  auto row = std::ranges::find(kRows, name, &Row::name);
  PLIM_ASSERT(row != kRows.end());  // settle() has checked it against the table
  Printer out(row->format, context);
  if (out.format_ == Format::jsonpath) {
    auto path = JsonPath::parse(text);
    if (!path) return tl::unexpected(bad_template(path.error()));
    out.path_ = std::move(*path);
  }
  if (out.format_ == Format::custom_columns) PLIM_CLI_CHECK(out.choose_columns(text));
  return out;
}

Outcome<void> Printer::choose_columns(std::string_view text) {
  for (std::string_view one : split_columns(text)) {
    auto [header, expression] = cut(one, ':');
    if (header.empty() || expression.empty())
      return tl::unexpected(bad_template(fail(
          Code::invalid, fmt::format("custom-columns: {} is not HEADER:EXPRESSION", quote(one)))));
    auto path = JsonPath::parse_column(expression);
    if (!path)
      return tl::unexpected(
          bad_template(path.error().with_context(fmt::format("column {}", quote(header)))));
    columns_.push_back({std::string(header), std::move(*path)});
  }
  return {};
}

Outcome<void> Printer::print_table(const Table& table) const {
  Table::Style style{.wide = is_wide(), .headers = headers_, .color = terminal_.color};
  return out_->write(table.render(style));
}

Outcome<std::string> Printer::columns_text(const json::value& value) {
  std::vector<Table::Column> headers;
  for (const Column& column : columns_) headers.push_back({column.header});
  Table table(std::move(headers));
  auto add_row = [&](const json::value& object) -> Outcome<void> {
    std::vector<Table::Cell> row;
    for (const Column& column : columns_) {
      auto found = column.path.find(object);
      if (!found) return tl::unexpected(bad_template(found.error()));
      std::string cell;
      for (const json::value* one : *found) cell += (cell.empty() ? "" : ",") + plain_text(*one);
      row.emplace_back(cell.empty() ? "<none>" : std::move(cell));
    }
    table.add(std::move(row));
    return {};
  };
  if (const json::array* items = items_of(value)) {
    for (const json::value& item : *items) PLIM_CLI_CHECK(add_row(item));
  } else {
    PLIM_CLI_CHECK(add_row(value));
  }
  return table.render({.headers = headers_});
}

Outcome<void> Printer::print(const json::value& value) {
  return print(value, false);
}

Outcome<void> Printer::print_next(const json::value& value) {
  return print(value, true);
}

Outcome<void> Printer::print(const json::value& value, bool streaming) {
  std::string text;
  switch (format_) {
    case Format::json:
      text = (streaming ? to_json(value) : to_json_indented(value)) + "\n";
      break;
    case Format::yaml:
      text = (streaming ? "---\n" : "") + to_yaml(value);
      break;
    case Format::name:
      if (const json::array* items = items_of(value)) {
        for (const json::value& item : *items) text += object_name(item, value) + "\n";
      } else {
        // A watch event contains the object.
        const json::value* object = find(value, {"object"});
        std::string name = object_name(object != nullptr ? *object : value);
        if (!name.empty()) text = name + "\n";
      }
      break;
    case Format::jsonpath: {
      auto rendered = path_->render(value);
      if (!rendered) return tl::unexpected(bad_template(rendered.error()));
      text = std::move(*rendered);
      // kubectl prints no newline. Add one, so that a prompt or the next event starts on its own
      // line.
      if ((terminal_.is_terminal || streaming) && !text.ends_with('\n')) text += '\n';
      break;
    }
    case Format::custom_columns: {
      PLIM_CLI_TRY(text, columns_text(value));
      if (streaming) headers_ = false;
      break;
    }
    case Format::raw:
    case Format::table:
    case Format::wide:
      PLIM_ASSERT(false);  // these formats do not print values
  }
  return out_->write(text);
}

}  // namespace plim::cli
