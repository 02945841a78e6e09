// file_exporter: writes one file per slice, complete or not at all, or appends to one file per
// worker.
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/durable_directory.hpp"
#include "base/fd.hpp"
#include "base/files.hpp"
#include "flow/csv.hpp"
#include "flow/gzip_file.hpp"
#include "flow/ops.hpp"

namespace plim::flow {
namespace {

Result<void> write_all(int fd, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return fail_errno(errno, fmt::format("cannot write {}", path));
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return {};
}

// The ledger never repeats a completed slice, so its records are on disk before the worker reports.
Result<void> sync_data(int fd, const std::string& path) {
  if (::fdatasync(fd) != 0) return fail_errno(errno, fmt::format("cannot sync {}", path));
  return {};
}

bool is_per_slice(const json::object& options) {
  return bool_option(options, "file_per_slice") || bool_option(options, "idempotent") ||
         text_option(options, "format") == "json";
}

bool has_columns(std::string_view format) {
  return format == "csv" || format == "tsv";
}

class FileExporter final : public Operation {
 public:
  explicit FileExporter(const json::object& options)
      : directory_(text_option(options, "path")),
        format_(text_option(options, "format")),
        extension_(text_option(options, "extension")),
        header_(bool_option(options, "include_header")),
        gzip_(text_option(options, "compression") == "gzip"),
        per_slice_(is_per_slice(options)),
        names_given_(!texts_option(options, "fields").empty()),
        csv_(texts_option(options, "fields"), separator(options)) {
    if (extension_.empty()) extension_ = format_ + (gzip_ ? ".gz" : "");
  }

  Result<void> process(SliceContext& context, Batch& batch) override {
    PLIM_CHECK(format(batch));
    if (!per_slice_) return {};
    // Everything that can fail happens here. commit() only renames the file.
    temporary_ = temporary_file(context, context.attempt);
    PLIM_TRY(Fd fd, open_file(temporary_, O_TRUNC));
    PLIM_CHECK(write_all(fd.get(), bytes_, temporary_));
    return sync_data(fd.get(), temporary_);
  }

  Result<void> commit(SliceContext& context) override {
    if (!per_slice_) return append(context);
    std::string path = slice_file(context);
    if (::rename(temporary_.c_str(), path.c_str()) != 0)
      return fail_errno(errno, fmt::format("cannot rename {}", temporary_));
    temporary_.clear();
    // Delete files of earlier attempts whose workers were killed.
    for (std::uint32_t attempt = 1; attempt < context.attempt; ++attempt)
      ::unlink(temporary_file(context, attempt).c_str());
    return sync_directory(directory_);
  }

  void abandon() override {
    if (!temporary_.empty()) ::unlink(temporary_.c_str());
    temporary_.clear();
  }

 private:
  static char separator(const json::object& options) {
    std::string_view given = text_option(options, "field_delimiter");
    return !given.empty() ? given[0] : text_option(options, "format") == "tsv" ? '\t' : ',';
  }

  // Slicer and order identify the slice in its execution, so the names sort in input order.
  std::string slice_file(const SliceContext& context) const {
    return fmt::format("{}/{}.{}.{:08}.{}", directory_, context.ex_id, context.slicer_id,
                       context.slicer_order, extension_);
  }

  std::string temporary_file(const SliceContext& context, std::uint32_t attempt) const {
    return fmt::format("{}.tmp-{}", slice_file(context), attempt);
  }

  Result<void> format(const Batch& batch) {
    text_.clear();
    if (has_columns(format_)) {
      PLIM_CHECK(columns(batch));
    } else if (format_ == "json") {
      text_ += '[';
      for (Record record : batch.records) {
        if (text_.size() > 1) text_ += ",\n";
        text_ += record;
      }
      text_ += "]\n";
    } else {
      std::size_t size = 0;
      for (Record record : batch.records) size += record.size() + 1;
      text_.reserve(size);
      for (Record record : batch.records) text_.append(record) += '\n';
    }
    if (!gzip_) {
      bytes_ = text_;
      return {};
    }
    packed_.clear();
    PLIM_CHECK(gzip_into(packed_, text_));
    bytes_ = packed_;
    return {};
  }

  Result<void> columns(const Batch& batch) {
    // A file per slice has the columns of its own records, whichever worker writes it. A file that
    // is appended to keeps its first columns.
    if (!names_given_ && per_slice_) csv_.forget_fields();
    const bool take = !csv_.has_fields();
    for (std::size_t i = 0; take && i < (per_slice_ ? batch.records.size() : 1); ++i)
      if (i < batch.records.size() && !csv_.take_fields(batch.records[i]))
        return fail(Code::invalid,
                    fmt::format("record {} of the slice is not a JSON object", i + 1));
    if (header_ && per_slice_) csv_.header(text_);
    for (std::size_t i = 0; i < batch.records.size(); ++i)
      if (!csv_.line(batch.records[i], text_))
        return fail(Code::invalid,
                    fmt::format("record {} of the slice is not a JSON object", i + 1));
    return {};
  }

  Result<Fd> open_file(const std::string& path, int flags) {
    if (!made_) PLIM_CHECK(make_directory());
    made_ = true;
    Fd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0644));
    if (!fd) return fail_errno(errno, fmt::format("cannot open {}", path));
    return fd;
  }

  Result<void> make_directory() const {
    PLIM_CHECK(make_durable_directories(directory_));
    // Another worker may have created it a moment ago, and its name may not be on disk yet.
    auto synced = sync_directory(directory_ + "/..");
    if (!synced && synced.error().code == Code::forbidden) return {};  // somebody else created it
    return synced;
  }

  // Uses one write, so that a concurrent reader never sees half a record of a small slice.
  Result<void> append(const SliceContext& context) {
    std::string path = fmt::format("{}/{}.{}", directory_, context.worker_id, extension_);
    if (bytes_.empty()) return {};
    PLIM_TRY(Fd fd, open_file(path, O_APPEND));
    const off_t before = ::lseek(fd.get(), 0, SEEK_END);
    if (before < 0) return fail_errno(errno, fmt::format("cannot write {}", path));
    std::string first;
    if (before == 0 && header_ && has_columns(format_)) {
      PLIM_TRY(first, packed_header());
    }
    auto written = write_all(fd.get(), first.empty() ? bytes_ : first.append(bytes_), path);
    if (written) written = sync_data(fd.get(), path);
    // Remove a partly written slice, or its next attempt would follow it in the file.
    if (!written && ::ftruncate(fd.get(), before) != 0)
      return written.error().with_context("a part of the slice was written");
    PLIM_CHECK(std::move(written));
    return before == 0 ? sync_directory(directory_) : Result<void>();
  }

  Result<std::string> packed_header() const {
    std::string text, packed;
    csv_.header(text);
    if (!gzip_) return text;
    PLIM_CHECK(gzip_into(packed, text));
    return packed;
  }

  std::string directory_;
  std::string format_;
  std::string extension_;
  bool header_;
  bool gzip_;
  bool per_slice_;
  bool names_given_;
  CsvWriter csv_;
  bool made_ = false;
  std::string text_;
  std::string packed_;
  std::string_view bytes_;
  std::string temporary_;
};

}  // namespace

Result<std::unique_ptr<Operation>> make_file_exporter(const json::object& options) {
  return std::make_unique<FileExporter>(options);
}

void check_file_exporter(const json::object& options, std::string_view path, Problems& problems) {
  if (text_option(options, "field_delimiter").size() > 1)
    problems.errors.push_back(fmt::format("{}.field_delimiter: must be one byte", path));
  if (text_option(options, "extension").find('/') != std::string_view::npos)
    problems.errors.push_back(fmt::format("{}.extension: must not have a /", path));
  if (has_columns(text_option(options, "format")) && !is_per_slice(options) &&
      texts_option(options, "fields").empty())
    problems.warnings.push_back(
        fmt::format("{}.fields: not given; each file has the columns of its first record", path));
}

Guarantee file_exporter_guarantee(const json::object& options) {
  if (is_per_slice(options))
    return {.exactly_once = true,
            .reason = "file_exporter: one file per slice, renamed when whole"};
  return {.exactly_once = false,
          .reason = "file_exporter: appends to one file per worker; set idempotent to true"};
}

}  // namespace plim::flow
