class Lacon < Formula
  desc "{{summary}}"
  homepage "{{repository}}"
  version "{{version}}"
  license any_of: ["Apache-2.0", "MIT"]

{{stanzas}}
  def install
    bin.install "lacon"
    man1.install Dir["man/man1/*.1"]
    bash_completion.install "completions/lacon.bash" => "lacon"
    zsh_completion.install "completions/_lacon"
    fish_completion.install "completions/lacon.fish"
  end

  test do
    (testpath/"one.py").write "def first(): pass\n\ndef second():\n    first()\n"
    system bin/"lacon", "index", testpath
    assert_match "second", shell_output("#{bin}/lacon callers first --root #{testpath}")
  end
end
