#include "base/table.hpp"

#include <algorithm>

#include "base/result.hpp"
#include "base/utf8.hpp"

namespace plim {
namespace {

constexpr std::size_t kGap = 3;

std::string one_harmless_line(std::string_view text) {
  const auto end = text.find_first_of("\r\n");
  std::string out = escape_controls(text.substr(0, end));
  if (end != text.npos) out += "...";
  return out;
}

std::string upper(std::string text) {
  for (char& c : text)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return text;
}

}  // namespace

Table::Table(std::vector<Column> columns) : columns_(std::move(columns)) {
  for (Column& column : columns_) column.header = upper(std::move(column.header));
}

void Table::add(std::vector<Cell> row) {
  PLIM_ASSERT(row.size() == columns_.size());
  for (Cell& cell : row) cell.text = one_harmless_line(cell.text);
  rows_.push_back(std::move(row));
}

std::string Table::render(Style style) const {
  std::vector<std::size_t> shown, widths(columns_.size());
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (columns_[i].shown == Shown::wide && !style.wide) continue;
    shown.push_back(i);
    if (style.headers) widths[i] = display_width(columns_[i].header);
    for (const auto& row : rows_) widths[i] = std::max(widths[i], display_width(row[i].text));
  }

  std::string out;
  std::size_t pending = 0;  // spaces to write if something follows on the line
  auto put = [&](std::size_t column, std::string_view text, Color color) {
    if (!text.empty()) {
      out.append(pending, ' ');
      pending = 0;
      out += paint(text, style.color ? color : Color::none);
    }
    pending += widths[column] - display_width(text) + kGap;
  };
  auto end_line = [&] {
    out += '\n';
    pending = 0;
  };
  if (style.headers) {
    for (std::size_t i : shown) put(i, columns_[i].header, Color::none);
    end_line();
  }
  for (const auto& row : rows_) {
    for (std::size_t i : shown) put(i, row[i].text, row[i].color);
    end_line();
  }
  return out;
}

}  // namespace plim
