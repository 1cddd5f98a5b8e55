"""Planted frauds: each compiles or nearly does, and the checker refuses every one of them."""

from collections.abc import Callable
from pathlib import Path

import pytest

from paper_checks.formal import kernel, prover
from paper_checks.formal.kernel import CHECKED, FAILED, Checked, check_formal
from paper_checks.formal.source import read_statements, refused, variables

HEAD = "From mathcomp Require Import all_ssreflect all_algebra.\n"
PROOFS = (
    HEAD
    + """Import GRing.Theory.
Local Open Scope ring_scope.

Theorem gates : forall (F : fieldType) (n : nat) (x : 'rV[F]_n), x = 0 -> x + x = 0.
Proof. by move=> F n x ->; rewrite addr0. Qed.

Lemma gates_witness : ~ (forall x : 'rV[rat]_2, x = 0 -> False).
Proof. by move=> /(_ 0); apply. Qed.
"""
)
STATEMENTS = (
    HEAD
    + """From AttentionGeometry Require gated_mixture.
Local Open Scope ring_scope.

Theorem CW2_gates : forall (F : fieldType) (n : nat) (x : 'rV[F]_n), x = 0 -> x + x = 0.
Proof. exact @gated_mixture.gates. Qed.
"""
)
Attempt = Callable[..., Checked]


@pytest.fixture
def attempt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest,
            require_tool: Callable[..., str]) -> Attempt:  # fmt: skip
    """attempt(proofs, statements): what the checker says of a development of two files."""
    require_tool(
        "coqc", also=("rocq",), why="proofs are checked by its kernel",
        how="the packages coq and libcoq-mathcomp-algebra",
    )  # fmt: skip
    monkeypatch.setattr(kernel, "WHOLE", {"CW2": ("gates",)})
    monkeypatch.setattr(kernel, "PART", {})
    build = request.config.rootpath / "build" / "formal"

    def run(proofs: str = PROOFS, statements: str = STATEMENTS) -> Checked:
        (tmp_path / "gated_mixture.v").write_text(proofs)
        (tmp_path / "statements.v").write_text(statements)
        return check_formal(["CW2"], folder=tmp_path, build=build)

    return run


def past_the_source(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every source through, so that the kernel's answers alone must catch the fraud."""
    monkeypatch.setattr(kernel, "refused", lambda text: [])


def told(checked: Checked) -> str:
    return "\n".join((*checked.errors, *checked.faults.values()))


def changed(text: str, old: str, new: str) -> str:
    assert text.count(old) == 1, f"{text.count(old)} times: {old}"
    return text.replace(old, new)


@pytest.mark.formal
def test_an_honest_proof_is_closed(attempt: Attempt) -> None:
    checked = attempt()
    assert told(checked) == ""
    assert checked.state == CHECKED
    assert checked.closed == {"CW2_gates"}


ADMITTED = changed(PROOFS, "rewrite addr0. Qed.", "rewrite addr0. Admitted.")
AXIOM = changed(PROOFS, "Theorem gates :", "Axiom any : forall P : Prop, P.\nTheorem gates :")
AXIOM = changed(AXIOM, "by move=> F n x ->; rewrite addr0", "exact: any")
UNGUARDED = changed(
    PROOFS,
    "Theorem gates :",
    "Unset Guard Checking.\nFixpoint any (P : Prop) (n : nat) {struct n} : P := any P n.\n"
    "Set Guard Checking.\nTheorem gates :",
)
UNGUARDED = changed(UNGUARDED, "by move=> F n x ->; rewrite addr0", "exact: (any _ 0)")


@pytest.mark.slow
@pytest.mark.formal
@pytest.mark.parametrize(
    ("proofs", "word", "answer"),
    [
        (ADMITTED, "refused: Admitted", "Axioms: gated_mixture.gates"),
        (AXIOM, "refused: Axiom any", "Axioms: gated_mixture.any"),
        (UNGUARDED, "refused: Unset Guard Checking", "any is assumed to be guarded"),
    ],
    ids=["admitted", "axiom", "unguarded"],
)
def test_a_proof_from_nothing_is_refused_twice(
    attempt: Attempt, monkeypatch: pytest.MonkeyPatch, proofs: str, word: str, answer: str
) -> None:
    by_source = attempt(proofs)
    assert (by_source.state, by_source.closed) == (FAILED, frozenset())
    assert word in told(by_source)
    past_the_source(monkeypatch)
    by_kernel = attempt(proofs)
    assert (by_kernel.state, by_kernel.closed) == (FAILED, frozenset())
    assert answer in told(by_kernel)


@pytest.mark.slow
@pytest.mark.formal
def test_contradictory_hypotheses_have_no_witness(attempt: Attempt) -> None:
    proofs = changed(PROOFS, "x = 0 -> x + x = 0", "x = 0 -> x != 0 -> x + x = x")
    proofs = changed(proofs, "by move=> F n x ->; rewrite addr0", "by move=> F n x -> /eqP")
    statements = changed(STATEMENTS, "x = 0 -> x + x = 0", "x = 0 -> x != 0 -> x + x = x")
    checked = attempt(proofs, statements)
    assert checked.state == FAILED
    assert "the witness does not refute" in told(checked)


@pytest.mark.slow
@pytest.mark.formal
@pytest.mark.parametrize(
    ("shown", "proof"),
    [
        ("~ (forall x : 'rV[rat]_2, x = x -> False)", "by move=> /(_ 0); apply"),
        ("~ (forall x : 'rV[rat]_2, x != 0 -> False)",
         "by move=> /(_ (const_mx 1)); apply; apply/eqP => /rowP /(_ 0) /eqP; rewrite !mxE"),
        ("True", "by []"),
    ],
    ids=["of fewer hypotheses", "of other hypotheses", "of nothing"],
)  # fmt: skip
def test_a_witness_of_another_theorem_shows_nothing(
    attempt: Attempt, shown: str, proof: str
) -> None:
    proofs = changed(PROOFS, "~ (forall x : 'rV[rat]_2, x = 0 -> False)", shown)
    checked = attempt(changed(proofs, "by move=> /(_ 0); apply", proof))
    assert checked.closed == frozenset()
    assert "the witness does not refute" in told(checked)


@pytest.mark.slow
@pytest.mark.formal
def test_a_witness_may_not_rest_on_an_axiom(
    attempt: Attempt, monkeypatch: pytest.MonkeyPatch
) -> None:
    past_the_source(monkeypatch)
    checked = attempt(changed(PROOFS, "apply. Qed.", "apply. Admitted."))
    assert checked.closed == frozenset()
    assert "CW2_gates_witness: Axioms: gated_mixture.gates_witness" in told(checked)


@pytest.mark.slow
@pytest.mark.formal
def test_a_witness_of_empty_matrices_alone_shows_nothing(attempt: Attempt) -> None:
    proofs = changed(PROOFS, "x + x = 0", "n = 0%N -> x + x = 0")
    proofs = changed(proofs, "by move=> F n x ->", "by move=> F n x -> _")
    proofs = changed(proofs, "forall x : 'rV[rat]_2, x = 0 ->",
                     "forall x : 'rV[rat]_0, x = 0 -> 0%N = 0%N ->")  # fmt: skip
    statements = changed(STATEMENTS, "x + x = 0", "n = 0%N -> x + x = 0")
    checked = attempt(proofs, statements)
    assert "the witness does not refute" in told(checked)


@pytest.mark.slow
@pytest.mark.formal
def test_a_shadowed_notation_changes_no_statement(
    attempt: Attempt, monkeypatch: pytest.MonkeyPatch
) -> None:
    shadow = 'Notation "x + y" := (GRing.mul x y) : ring_scope.\n'
    proofs = changed(PROOFS, "Theorem gates :", shadow + "Theorem gates :")
    proofs = changed(proofs, "forall (F : fieldType) (n : nat) (x : 'rV[F]_n), x = 0",
                     "forall (F : fieldType) (x : F), x = 0")  # fmt: skip
    proofs = changed(proofs, "by move=> F n x ->; rewrite addr0", "by move=> F x ->; rewrite mulr0")
    statements = changed(STATEMENTS, "forall (F : fieldType) (n : nat) (x : 'rV[F]_n), x = 0",
                         "forall (F : fieldType) (x : F), x = 0")  # fmt: skip
    assert "refused: Notation" in told(attempt(proofs, statements))
    past_the_source(monkeypatch)
    assert "exact @gated_mixture.gates" not in told(attempt())
    by_kernel = attempt(proofs, statements)
    assert by_kernel.closed == frozenset()
    assert "CW2" in by_kernel.faults


@pytest.mark.slow
@pytest.mark.formal
def test_a_statement_is_the_theorem_that_is_proved(attempt: Attempt) -> None:
    weaker = changed(STATEMENTS, "x = 0 -> x + x = 0", "x = 0 -> n = 2 -> x + x = 0")
    weaker = changed(weaker, "n = 2", "n = 2%N")
    stronger = changed(STATEMENTS, ", x = 0 -> x + x = 0", ", x + x = 0")
    for statements in (weaker, stronger):
        checked = attempt(PROOFS, statements)
        assert (checked.state, checked.closed) == (FAILED, frozenset())
        assert "CW2" in checked.faults


@pytest.mark.slow
@pytest.mark.formal
def test_what_a_section_assumes_is_a_hypothesis_of_the_theorem(attempt: Attempt) -> None:
    proofs = changed(PROOFS, "Theorem gates :", "Section S.\nVariable no : False.\nTheorem gates :")
    proofs = changed(proofs, "by move=> F n x ->; rewrite addr0. Qed.", "case: no. Qed.\nEnd S.")
    checked = attempt(proofs)
    assert (checked.state, checked.closed) == (FAILED, frozenset())
    assert "False -> forall" in told(checked)


@pytest.mark.slow
@pytest.mark.formal
@pytest.mark.parametrize(
    ("conclusion", "name", "tactic"),
    [
        ("let unitmx := x in unitmx + x = 0", "unitmx", "rewrite /= addr0"),
        ("forall a const_mx : nat, x + x = 0", "const_mx", "rewrite addr0"),
        ("forall (i : 'I_n) (invmx : nat), x + x = 0", "invmx", "rewrite addr0"),
        ("exists a invmx : nat, x + x = 0", "invmx", "exists 0%N, 0%N; rewrite addr0"),
        (r"\sum_(invmx < 2) x = 0", "invmx", "rewrite big1"),
    ],
)
def test_a_variable_may_not_hide_a_word_of_mathcomp(
    attempt: Attempt, conclusion: str, name: str, tactic: str
) -> None:
    proofs = changed(PROOFS, "x + x = 0", conclusion)
    proofs = changed(proofs, "rewrite addr0", tactic)
    checked = attempt(proofs, changed(STATEMENTS, "x + x = 0", conclusion))
    assert f"{name} is a word of MathComp" in told(checked)
    assert checked.closed == frozenset()


def test_the_names_that_a_statement_binds() -> None:
    text = (r"forall (a : nat) b (c : nat), let f (x : nat) y := \sum_i i in "
            r"\matrix_(k, l) \big[op/1]_(e <- s) 1")  # fmt: skip
    assert variables(text) == ["a", "b", "c", "e", "f", "i", "k", "l", "x", "y"]


@pytest.mark.slow
@pytest.mark.formal
def test_a_renamed_theorem_is_missed(attempt: Attempt) -> None:
    renamed = changed(PROOFS, "Theorem gates :", "Theorem gate :")
    checked = attempt(renamed)
    assert checked.state == FAILED
    assert "gated_mixture.gates was not found" in told(checked)
    unwitnessed = changed(PROOFS, "Lemma gates_witness :", "Lemma gates_other :")
    assert "gated_mixture.gates_witness was not found" in told(attempt(unwitnessed))
    restated = STATEMENTS.replace("CW2_gates", "CW2_gate")
    assert "CW2.gate: stated, but not in clauses.py" in told(attempt(PROOFS, restated))


def test_a_missing_answer_is_no_answer() -> None:
    printed = "== one\nClosed under the global context\n== two\n"
    assert kernel.said(printed) == {"one": kernel.CLOSED, "two": ""}


@pytest.mark.parametrize(
    "line",
    [
        "Axiom a : False.", "Parameter a : False.", "Conjecture a : False.",
        "Admitted.", "Unset Guard Checking.", "Unset Universe Checking.",
        "#[bypass_check(guard)] Fixpoint f (n : nat) : False := f n.",
        "Set Typing Flags.", 'Declare ML Module "x".', 'Load "x".', 'Redirect "f" Print a.',
        'Extraction "f" a.', 'Notation "x + y" := (x * y).', "Infix \"+\" := a.",
        'Local Notation "x + y" := (x * y).', "Canonical c := a.", "Coercion f : a >-> b.",
        "Ltac t := idtac.", "Module M.", "Hint Resolve a.", "Existing Instance a.",
        "Hypothesis a : False.", "Variable a : False.", "Let a := 1.",
        "Lemma a : False.\nProof.\n- Unset Guard Checking.", "Local Open Scope other_scope.",
        "Lemma a : False.\nProof.\n1: { Unset Guard Checking.", "From other Require Import all.",
        "Require Import Reals.", "Lemma a : False.\nProof. admit.",
        "Lemma a : False.\nProof. give_up.",
        'Lemma a : "(*" = "". Axiom b : False. (* *)', "(* *) Axiom b : False.",
        "Lemma a : True.\nProof.\n} Axiom b : False.", "Section S.\nEnd S.\nContext (a : False).",
        "(* \u0405 *) Lemma a : True.", "Lemma a : True.\x0b",
    ],
)  # fmt: skip
def test_what_may_not_stand_in_a_source_is_refused(line: str) -> None:
    assert refused(line)


def test_what_a_comment_or_a_section_holds_is_not_refused() -> None:
    text = "(* Axiom a (* nested *) : False. *)\nSection S.\nVariable n : nat.\nEnd S.\n"
    assert refused(text) == []
    assert refused("(* Axiom") == ["a comment does not end"]
    assert refused('Lemma a : "b.') == ["a string does not end"]
    assert refused("Section S.\nEnd S.\nVariable n : nat.") == [
        "outside a section: Variable n : nat"
    ]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("Require gated_mixture.", "Require Import gated_mixture.", "must open with"),
        ("Theorem CW2_gates :", "Definition two := 2.\nTheorem CW2_gates :", "no theorem: D"),
        ("exact @gated_mixture.gates.", "exact: gated_mixture.gates.", "must read"),
        ("exact @gated_mixture.gates.", "by move=> F n x ->; rewrite GRing.addr0.", "must read"),
        ("Theorem CW2_gates", "Example CW2_gates", "no theorem: Example CW2_gates"),
        ("CW2_gates :", "CW2Gates :", "no theorem's id and clause"),
        ("x = 0 -> x + x = 0", "gated_mixture.same x", "more than MathComp's words"),
        ("x = 0 -> x + x = 0", "ltac:(exact True)", "more than MathComp's words"),
        ("x = 0 -> x + x = 0", "gated_mixture .same x", "more than MathComp's words"),
        ("x = 0 -> x + x = 0", "Any.same x", "more than MathComp's words"),
        ("x = 0 -> x + x = 0", "(x == 0) ==> (x + x == 0)", "more than MathComp's words"),
        ("x = 0 -> x + x = 0", "let: invmx := x in invmx = 0", "more than MathComp's words"),
        ("x = 0 -> x + x = 0", "if x is invmx then invmx = 0", "more than MathComp's words"),
        ("x = 0 -> x + x = 0", "gated_mixture.\u03c3 x", "only plain ASCII"),
        ("x = 0 -> x + x = 0", "\u0445 = 0 -> x + x = 0", "only plain ASCII"),
        (
            "forall (F : fieldType) (n : nat)",
            "forall (F : fieldType) (T : finType) (n : nat)",
            "not finType",
        ),
        ("(n : nat) (x : 'rV[F]_n)", "(n : nat * nat) (x : 'rV[F]_n.1)", "not nat"),
        ("(n : nat) (x : 'rV[F]_n)", "(n : id nat) (x : 'rV[F]_n)", "not nat"),
    ],
)
def test_statements_hold_nothing_but_theorems(old: str, new: str, message: str) -> None:
    assert read_statements(STATEMENTS)[1] == []
    assert any(message in fault for fault in read_statements(changed(STATEMENTS, old, new))[1])


def test_a_prover_that_is_absent_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert prover.find_prover() is None
