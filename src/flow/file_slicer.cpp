// file_reader, first half: divides files into ranges of bytes.
#include <algorithm>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "flow/ops.hpp"

namespace plim::flow {
namespace {

namespace fs = std::filesystem;

struct InputFile {
  std::string path;
  std::uint64_t size = 0;
};

Result<std::vector<InputFile>> files_below(const std::string& path) {
  std::error_code error;
  std::vector<InputFile> out;
  if (fs::is_directory(path, error)) {
    fs::recursive_directory_iterator it(path, error), end;
    for (; !error && it != end; it.increment(error))
      if (it->is_regular_file(error)) out.push_back({it->path().string(), it->file_size(error)});
  } else if (fs::is_regular_file(path, error)) {
    out.push_back({path, fs::file_size(path, error)});
  } else {
    return fail(Code::not_found, fmt::format("{} does not exist", path));
  }
  if (error) return fail(Code::not_found, fmt::format("cannot list {}: {}", path, error.message()));
  std::ranges::sort(out, {}, &InputFile::path);
  return out;
}

// Lists the files once. A resumed run does not read new files that sort before the cursor.
class FileSlicer final : public Slicer {
 public:
  FileSlicer(std::vector<InputFile> files, std::uint64_t size, std::uint64_t delimiter, bool whole)
      : files_(std::move(files)),
        // Larger than a delimiter, so that only the first slice of a file has offset 0.
        size_(std::max(size, delimiter + 1)),
        delimiter_(delimiter),
        whole_(whole) {}

  Result<std::optional<json::object>> next() override {
    while (file_ < files_.size() && at_ >= files_[file_].size) {
      ++file_;
      at_ = 0;
    }
    if (file_ == files_.size()) return std::optional<json::object>();
    const InputFile& file = files_[file_];
    std::uint64_t length = whole_ ? file.size : std::min(size_, file.size - at_);
    // Starts one delimiter early, so that a record that begins exactly at the border is recognized.
    std::uint64_t early = std::min(delimiter_, at_);
    json::object request{{"path", file.path},
                         {"offset", at_ - early},
                         {"length", length + early},
                         {"total", file.size}};
    at_ += length;
    return std::optional(std::move(request));
  }

  json::value cursor() const override {
    if (file_ == files_.size()) return json::object{{"end", true}};
    return json::object{{"path", files_[file_].path}, {"at", at_}};
  }

  Result<void> restore(const json::value& cursor) override {
    file_ = files_.size();
    at_ = 0;
    if (bool_at(cursor, {"end"})) return {};
    std::string_view path = text_at(cursor, {"path"});
    auto file = std::ranges::lower_bound(files_, path, {}, &InputFile::path);
    file_ = static_cast<std::size_t>(file - files_.begin());
    if (file != files_.end() && file->path == path)
      at_ = static_cast<std::uint64_t>(int_at(cursor, {"at"}).value_or(0));
    return {};
  }

  std::optional<std::uint64_t> total_slices() const override {
    std::uint64_t sum = 0;
    for (const InputFile& file : files_)
      sum += whole_ ? (file.size > 0 ? 1 : 0) : (file.size + size_ - 1) / size_;
    return sum;
  }

 private:
  std::vector<InputFile> files_;
  std::uint64_t size_;
  std::uint64_t delimiter_;
  bool whole_;
  std::size_t file_ = 0;
  std::uint64_t at_ = 0;
};

}  // namespace

Result<std::unique_ptr<Slicer>> make_file_slicer(const ReaderSetup& setup) {
  PLIM_TRY(std::vector<InputFile> all,
           files_below(std::string(text_option(setup.options, "path"))));
  std::vector<InputFile> mine;
  for (std::size_t i = setup.index; i < all.size(); i += setup.count) mine.push_back(all[i]);
  bool whole = bool_option(setup.options, "file_per_slice") ||
               text_option(setup.options, "compression") != "none" ||
               text_option(setup.options, "format") == "json";
  return std::make_unique<FileSlicer>(std::move(mine),
                                      static_cast<std::uint64_t>(int_option(setup.options, "size")),
                                      text_option(setup.options, "line_delimiter").size(), whole);
}

void check_file_reader(const json::object& options, std::string_view path, Problems& problems) {
  std::string_view delimiter = text_option(options, "line_delimiter");
  if (delimiter.size() != 1 && delimiter != "\r\n")
    problems.errors.push_back(fmt::format("{}.line_delimiter: must be one byte or \\r\\n", path));
  if (std::string_view field = text_option(options, "field_delimiter"); field.size() > 1)
    problems.errors.push_back(fmt::format("{}.field_delimiter: must be one byte", path));
}

}  // namespace plim::flow
